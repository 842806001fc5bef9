// Bundles the parts of undici that loadgate uses: node bundle-undici.mjs <file to write> [fixed]
// A process of its own, since esbuild does not run inside jest.
import { build } from 'esbuild'
import { fixUndici } from '../../scripts/fix-undici.mjs'

const [outfile, fixed] = process.argv.slice(2)
await build({
  entryPoints: ['src/service/http/undici.ts'],
  bundle: true,
  format: 'esm',
  platform: 'node',
  banner: {
    js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url)"
  },
  plugins: fixed === 'fixed' ? [fixUndici] : [],
  outfile
})
