// Makes an OCI image archive from a folder, without a registry or a daemon:
//   node make-image.mjs NAME:TAG ROOT OUT.tar [ENTRYPOINT-JSON] [ENV=VALUE …]
// `ctr images import OUT.tar` reads it. The layer is a plain tar with fixed times and owners: the same folder gives the same digest.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  createReadStream,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'

const [name, root, out, entrypoint = '[]', ...env] = process.argv.slice(2)
const work = mkdtempSync(path.join(tmpdir(), 'make-image-'))
const blobs = path.join(work, 'blobs', 'sha256')
const MANIFEST = 'application/vnd.oci.image.manifest.v1+json'

function pack(from, to) {
  const fixed = ['--sort=name', '--mtime=@0', '--owner=0', '--group=0', '--numeric-owner']
  execFileSync('tar', [...fixed, '-cf', to, '-C', from, '.'])
}

async function addLayer() {
  const layer = path.join(work, 'layer.tar')
  pack(root, layer)
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(layer)) hash.update(chunk)
  const hex = hash.digest('hex')
  const size = statSync(layer).size
  renameSync(layer, path.join(blobs, hex))
  return { mediaType: 'application/vnd.oci.image.layer.v1.tar', digest: `sha256:${hex}`, size }
}

function addDocument(mediaType, value) {
  const text = JSON.stringify(value)
  const hex = createHash('sha256').update(text).digest('hex')
  writeFileSync(path.join(blobs, hex), text)
  return { mediaType, digest: `sha256:${hex}`, size: Buffer.byteLength(text) }
}

try {
  mkdirSync(blobs, { recursive: true })
  const layer = await addLayer()
  const config = addDocument('application/vnd.oci.image.config.v1+json', {
    architecture: process.arch === 'arm64' ? 'arm64' : 'amd64',
    os: 'linux',
    config: {
      Env: ['PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', ...env],
      Entrypoint: JSON.parse(entrypoint),
      WorkingDir: '/'
    },
    rootfs: { type: 'layers', diff_ids: [layer.digest] },
    history: [{ created: '1970-01-01T00:00:00Z', created_by: 'make-image' }]
  })
  const manifest = addDocument(MANIFEST, { schemaVersion: 2, mediaType: MANIFEST, config, layers: [layer] })
  const annotations = { 'io.containerd.image.name': name, 'org.opencontainers.image.ref.name': name }
  writeFileSync(path.join(work, 'oci-layout'), '{"imageLayoutVersion":"1.0.0"}')
  writeFileSync(
    path.join(work, 'index.json'),
    JSON.stringify({ schemaVersion: 2, manifests: [{ ...manifest, annotations }] })
  )
  pack(work, `${out}.part`)
  renameSync(`${out}.part`, out)
  console.log(`${name}: ${(statSync(out).size / 1e6).toFixed(1)} MB`)
} finally {
  rmSync(work, { recursive: true, force: true })
}
