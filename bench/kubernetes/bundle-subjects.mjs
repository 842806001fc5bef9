// The processes of this bench as they are in a release: bundled, since sources and their maps would take memory of their own.
import { build } from 'esbuild'
import { join } from 'node:path'

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
    // Some packages are CommonJS, and an ES module has no `require` for them.
    banner: {
      js: "import { createRequire as createRequireOfBundle } from 'node:module'\nconst require = createRequireOfBundle(import.meta.url)"
    },
    logLevel: 'warning'
  })
  return (name) => join(folder, name)
}
