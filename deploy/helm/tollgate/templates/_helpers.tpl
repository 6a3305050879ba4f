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

{{/* Refuses values that are each valid but contradict each other. */}}
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
{{- $requests := .Values.resources.requests | default dict -}}
{{- if and .Values.autoscaling.enabled (not $requests.cpu) -}}
{{- fail "autoscaling goes by CPU, of which resources.requests.cpu says how much a gateway has: set it" -}}
{{- end -}}
{{- range $name, $text := .Values.files -}}
{{- if not (regexMatch "^[-._a-zA-Z0-9]+$" $name) -}}
{{- fail (printf "files.%s cannot be: a name has letters, digits, -, _ and . alone" $name) -}}
{{- end -}}
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
{{- if hasKey .Values.settings "database_url" -}}
{{- fail "settings.database_url is DATABASE_URL of existingSecret: leave it out" -}}
{{- end -}}
{{- if .Values.networkPolicy.enabled -}}
{{- include "tollgate.checkPorts" . -}}
{{- end -}}
{{- end -}}

{{/* Addresses in the settings that the network policy would silently block. */}}
{{- define "tollgate.checkPorts" -}}
{{- $open := printf ",%s," (join "," .Values.networkPolicy.providerPorts) -}}
{{- range $at, $provider := .Values.settings.providers | default list -}}
{{- $role := $provider.role | default dict -}}
{{- include "tollgate.checkPort" (dict "open" $open "setting" (printf "settings.providers[%d].base_url" $at) "url" $provider.base_url) -}}
{{- include "tollgate.checkPort" (dict "open" $open "setting" (printf "settings.providers[%d].role.uri" $at) "url" $role.uri) -}}
{{- end -}}
{{- $tracing := .Values.settings.tracing | default dict -}}
{{- include "tollgate.checkPort" (dict "open" $open "setting" "settings.tracing.endpoint" "url" $tracing.endpoint) -}}
{{- include "tollgate.checkPort" (dict "open" $open "setting" "settings.tracing.traces_endpoint" "url" $tracing.traces_endpoint) -}}
{{- with .Values.settings.mail -}}
{{- $usual := dict "tls" 465 "starttls" 587 "none" 25 -}}
{{- $port := int (.port | default (get $usual (.security | default "starttls"))) -}}
{{- include "tollgate.checkPort" (dict "open" $open "setting" "settings.mail" "url" (printf "http://%s:%d" .host $port)) -}}
{{- end -}}
{{- end -}}

{{/* Addresses in this pod are always reachable; the value of a ${NAME} is not known here. */}}
{{- define "tollgate.checkPort" -}}
{{- $origin := regexFind "^https?://[^/?#]+" (default "" .url) -}}
{{- $usual := ternary "443" "80" (hasPrefix "https:" $origin) -}}
{{- $port := trimPrefix ":" (regexFind ":[0-9]+$" $origin) | default $usual -}}
{{- $known := and $origin (not (contains "${" $origin)) (not (regexMatch "//(localhost|127\\.|\\[::1\\])" $origin)) -}}
{{- if and $known (not (contains (printf ",%s," $port) .open)) -}}
{{- fail (printf "%s goes to port %s, which networkPolicy closes: add it to networkPolicy.providerPorts" .setting $port) -}}
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

{{/* The image has no shell: a command of the program copies the shared data key to where the gateway looks for it. */}}
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
