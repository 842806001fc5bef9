import { readFile } from 'node:fs/promises'

// undici 7 asserts that no connection ends while its reply is read slowly, and the assertion ends the process (nodejs/undici#5360).
// undici 8 first gives the reader what was received (#5389, #5474), but does not run on Node 20. This does the same in undici 7: delete
// it when moving to 8. __tests__/scripts/fix-undici.test.ts fails without it, and shows when undici no longer needs it.
const ASSERTION =
  /(finish \(\) \{\s+assert\(currentParser === null\)\s+assert\(this\.ptr != null\)\s+)assert\(!this\.paused\)/g
const FIX = `$1if (this.paused) {
      this.resume()
      if (!this.ptr || !this.statusCode) return null
      if (this.paused) this.llhttp.llhttp_resume(this.ptr)
      this.paused = false
    }`

/** An esbuild plugin. If the fix no longer matches, the build fails, so that it is reviewed rather than lost. */
export const fixUndici = {
  name: 'fix-undici',
  setup({ onLoad, onEnd }) {
    let fixes = 0
    onLoad({ filter: /[\\/]undici[\\/]lib[\\/]dispatcher[\\/]client-h1\.js$/ }, async ({ path }) => {
      const code = await readFile(path, 'utf8')
      fixes += [...code.matchAll(ASSERTION)].length
      return { contents: code.replace(ASSERTION, FIX) }
    })
    onEnd(() => {
      if (fixes !== 1)
        throw new Error(`undici has changed: scripts/fix-undici.mjs matches ${fixes} places instead of one`)
    })
  }
}
