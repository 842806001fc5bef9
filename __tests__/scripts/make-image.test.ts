import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

interface Blob {
  readonly digest: string
  readonly size: number
}
interface Index {
  readonly manifests: readonly [Blob & { readonly annotations: Readonly<Record<string, string>> }]
}
interface Manifest {
  readonly config: Blob
  readonly layers: readonly [Blob]
}
interface Config {
  readonly config: { readonly Entrypoint: readonly string[]; readonly Env: readonly string[] }
  readonly rootfs: { readonly diff_ids: readonly string[] }
}

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'loadgate-image-'))
  mkdirSync(join(folder, 'root/bin'), { recursive: true })
  writeFileSync(join(folder, 'root/bin/tool'), 'hello')
})
afterEach(() => rmSync(folder, { recursive: true }))

function makeImage(): Buffer {
  const out = join(folder, 'image.tar')
  const args = ['localhost/test:1', join(folder, 'root'), out, '["/bin/tool"]', 'COLOUR=red']
  execFileSync(process.execPath, ['scripts/cluster/make-image.mjs', ...args], {
    env: { ...process.env, TMPDIR: folder }
  })
  return readFileSync(out)
}

test('an image is what its documents say, whenever it is made', () => {
  const first = makeImage()
  utimesSync(join(folder, 'root/bin/tool'), 1, 1)
  expect(makeImage().equals(first)).toBe(true)

  execFileSync('tar', ['-xf', join(folder, 'image.tar'), '-C', folder])
  const readBlob = ({ digest, size }: Blob): Buffer => {
    const bytes = readFileSync(join(folder, 'blobs', digest.replace(':', '/')))
    const hex = createHash('sha256').update(bytes).digest('hex')
    expect([`sha256:${hex}`, bytes.length]).toEqual([digest, size])
    return bytes
  }
  const index = JSON.parse(readFileSync(join(folder, 'index.json'), 'utf8')) as Index
  expect(index.manifests[0].annotations['io.containerd.image.name']).toBe('localhost/test:1')
  const manifest = JSON.parse(readBlob(index.manifests[0]).toString()) as Manifest
  const { config, rootfs } = JSON.parse(readBlob(manifest.config).toString()) as Config
  expect(config).toMatchObject({ Entrypoint: ['/bin/tool'] })
  expect(config.Env).toContain('COLOUR=red')
  expect(rootfs.diff_ids).toEqual([manifest.layers[0].digest])
  const listed = execFileSync('tar', ['-t'], { input: readBlob(manifest.layers[0]), encoding: 'utf8' })
  expect(listed).toContain('./bin/tool\n')
})
