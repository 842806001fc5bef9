// The processes of this bench as they are in a release: bundled, since sources and their maps would take memory of their own.
import { build } from 'esbuild'
import { join } from 'node:path'
import { BANNER, leaveOutUnusedKubernetes } from '../../scripts/bundle.mjs'

export async function bundleSubjects(folder) {
  await build({
    absWorkingDir: import.meta.dirname,
    entryPoints: ['service.mjs', 'peer.mjs', 'stand-in.mjs'],
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.18',
    banner: { js: BANNER },
    plugins: [leaveOutUnusedKubernetes],
    logLevel: 'warning'
  })
  return (name) => join(folder, name)
}
