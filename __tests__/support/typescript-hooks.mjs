// Lets Node run the sources as they are: they name each other by the names they have once compiled.
import { enableCompileCache, flushCompileCache, registerHooks } from 'node:module'
import { existsSync } from 'node:fs'
import { setTimeout } from 'node:timers'
import { fileURLToPath } from 'node:url'

// Compiling the sources is most of what a short process does, and many tests start some. A process that is killed keeps nothing at its end.
enableCompileCache(fileURLToPath(new URL('../../.cache/compiled', import.meta.url)))
setTimeout(flushCompileCache, 500).unref()

registerHooks({
  resolve(specifier, context, next) {
    if (specifier.startsWith('.') && specifier.endsWith('.js') && context.parentURL) {
      const source = new URL(specifier.replace(/\.js$/, '.ts'), context.parentURL)
      if (existsSync(fileURLToPath(source))) return next(source.href, context)
    }
    return next(specifier, context)
  }
})
