{{- define "tollgate.name" -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{- define "tollgate.selector" -}}
app.kubernetes.io/name: tollgate
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "tollgate.labels" -}}
{{ include "tollgate.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end -}}

{{- define "tollgate.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{- define "tollgate.secret" -}}
{{- required "existingSecret is empty: make a secret with DATABASE_URL (docs/kubernetes.md), and name it" .Values.existingSecret -}}
{{- end -}}

{{- define "tollgate.keySecret" -}}
{{- required "dataKeySecret is empty: make a secret with data.key, 32 random bytes (docs/kubernetes.md), and name it" .Values.dataKeySecret -}}
{{- end -}}

{{/* Values that are each right and cannot both be. */}}
{{- define "tollgate.check" -}}
{{- if lt (int .Values.terminationGracePeriodSeconds) (int (add .Values.stopGraceSeconds 30)) -}}
{{- fail (printf "terminationGracePeriodSeconds (%d) would kill the gateway before stopGraceSeconds (%d) has let its answers finish and be settled: set it to %d at least" (int .Values.terminationGracePeriodSeconds) (int .Values.stopGraceSeconds) (int (add .Values.stopGraceSeconds 30))) -}}
{{- end -}}
{{- if and .Values.autoscaling.enabled (gt (int .Values.autoscaling.minReplicas) (int .Values.autoscaling.maxReplicas)) -}}
{{- fail (printf "autoscaling.minReplicas (%d) is above autoscaling.maxReplicas (%d)" (int .Values.autoscaling.minReplicas) (int .Values.autoscaling.maxReplicas)) -}}
{{- end -}}
{{- if and .Values.ingress.enabled (not .Values.ingress.host) -}}
{{- fail "ingress.enabled needs ingress.host: the name that clients call" -}}
{{- end -}}
{{- if and .Values.serviceMonitor.enabled (not .Values.serviceMonitor.keySecret) -}}
{{- fail "serviceMonitor.enabled needs serviceMonitor.keySecret: /metrics wants a management key from other machines" -}}
{{- end -}}
{{- if hasKey .Values.files "tollgate.yaml" -}}
{{- fail "files may not have tollgate.yaml: settings makes it" -}}
{{- end -}}
{{- $limits := .Values.settings.limits | default dict -}}
{{- if hasKey $limits "stop_grace_ms" -}}
{{- fail "settings.limits.stop_grace_ms is set by stopGraceSeconds: leave it out, and set that" -}}
{{- end -}}
{{- $longest := div (int ($limits.request_timeout_ms | default 600000)) 1000 -}}
{{- if lt (int .Values.stopGraceSeconds) (int $longest) -}}
{{- fail (printf "stopGraceSeconds (%d) is below the longest stream (settings.limits.request_timeout_ms, %d s): each rollout would cut streams" (int .Values.stopGraceSeconds) (int $longest)) -}}
{{- end -}}
{{- range tuple "listen" "data_dir" -}}
{{- if hasKey $.Values.settings . -}}
{{- fail (printf "settings.%s is the chart's: leave it out" .) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "tollgate.securityContext" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end -}}

{{- define "tollgate.podSecurityContext" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
seccompProfile: { type: RuntimeDefault }
{{- end -}}

{{/* The image has no shell: its own command puts the shared data key where the gateway looks for it. */}}
{{- define "tollgate.keyContainer" -}}
- name: data-key
  image: {{ include "tollgate.image" . | quote }}
  imagePullPolicy: {{ .Values.image.pullPolicy }}
  args: [db, key, /secret/data.key]
  securityContext: {{- include "tollgate.securityContext" . | nindent 4 }}
  volumeMounts:
    - { name: data, mountPath: /data }
    - { name: data-key, mountPath: /secret, readOnly: true }
{{- end -}}

{{- define "tollgate.volumes" -}}
- name: data
  emptyDir: { sizeLimit: {{ .Values.dataSize }} }
- name: tmp
  emptyDir: {}
- name: data-key
  secret:
    secretName: {{ include "tollgate.keySecret" . }}
    defaultMode: 0440
    items: [{ key: data.key, path: data.key }]
{{- end -}}
