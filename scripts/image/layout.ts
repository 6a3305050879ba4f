// Writes an image in the OCI layout: blobs named by their digest, a manifest, an index.
import { createHash } from "node:crypto";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { type Entry, tarOf } from "./tar.ts";
import type { Processor } from "./libc.ts";

export interface ImageParts {
  processor: Processor;
  /** One layer each, those that change rarely first. */
  layers: readonly (readonly Entry[])[];
  /** How it is run: the specification's `config`. */
  config: object;
  labels: Record<string, string>;
  /** Seconds since 1970. */
  createdSeconds: number;
  /** The name it gets when loaded, without and with its version. */
  name: string;
  version: string;
}

interface Descriptor {
  mediaType: string;
  digest: string;
  size: number;
}

/** Writes the image into an empty folder. Returns the digest of its manifest, which depends only on the parts. */
export async function writeImage(folder: string, parts: ImageParts): Promise<string> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(join(folder, "blobs/sha256"), { recursive: true });
  const blob = async (mediaType: string, bytes: Uint8Array): Promise<Descriptor> => {
    const digest = digestOf(bytes);
    await Bun.write(join(folder, "blobs", digest.replace(":", "/")), bytes);
    return { mediaType, digest, size: bytes.length };
  };
  const json = (value: object): Uint8Array => Buffer.from(JSON.stringify(value));
  const created = new Date(parts.createdSeconds * 1000).toISOString();
  const archives = parts.layers.map((entries) => tarOf(entries, parts.createdSeconds));
  const layers: Descriptor[] = [];
  for (const archive of archives)
    layers.push(
      await blob(
        "application/vnd.oci.image.layer.v1.tar+gzip",
        Bun.gzipSync(new Uint8Array(archive), { level: 6 }),
      ),
    );
  const config = await blob(
    "application/vnd.oci.image.config.v1+json",
    json({
      created,
      architecture: parts.processor === "x64" ? "amd64" : "arm64",
      os: "linux",
      config: { ...parts.config, Labels: parts.labels },
      rootfs: { type: "layers", diff_ids: archives.map(digestOf) },
      history: archives.map(() => ({ created, created_by: "tollgate scripts/image.ts" })),
    }),
  );
  const mediaType = "application/vnd.oci.image.manifest.v1+json";
  const manifest = await blob(
    mediaType,
    json({ schemaVersion: 2, mediaType, config, layers, annotations: parts.labels }),
  );
  const platform = { architecture: parts.processor === "x64" ? "amd64" : "arm64", os: "linux" };
  const tag = `${parts.name}:${parts.version}`;
  const annotations = {
    "org.opencontainers.image.ref.name": parts.version,
    "io.containerd.image.name": `docker.io/library/${tag}`,
  };
  await Bun.write(
    join(folder, "index.json"),
    json({
      schemaVersion: 2,
      mediaType: "application/vnd.oci.image.index.v1+json",
      manifests: [{ ...manifest, platform, annotations }],
    }),
  );
  // The same for a Docker that does not support the layout yet.
  const path = ({ digest }: Descriptor): string => `blobs/${digest.replace(":", "/")}`;
  const archive = { Config: path(config), RepoTags: [tag], Layers: layers.map(path) };
  await Bun.write(join(folder, "manifest.json"), json([archive]));
  await Bun.write(join(folder, "oci-layout"), json({ imageLayoutVersion: "1.0.0" }));
  return manifest.digest;
}

const digestOf = (bytes: Uint8Array): string => `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
