import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { transformFileSync } from '@swc/core'

/** Threads run JavaScript: the sources are compiled as the build does it, file by file. Returns what a thread that scans begins with. */
export function compileWorker(folder: string): URL {
  const compiled = join(folder, 'compiled')
  mkdirSync(compiled)
  writeFileSync(join(compiled, 'package.json'), '{ "type": "module" }')
  const sources = join(import.meta.dirname, '../../../src')
  // The kernel itself is not compiled here; what it shares with the sources is.
  const isSource = (file: string) => file.endsWith('.ts') && !/assembly.(?!layout)/.test(file)
  for (const room of ['analysis/results', 'contract']) {
    const names = readdirSync(join(sources, room), { recursive: true, encoding: 'utf8' }).filter(isSource)
    for (const name of names) {
      const jsc = { target: 'es2022', parser: { syntax: 'typescript' } } as const
      const { code } = transformFileSync(join(sources, room, name), {
        ...{ jsc, module: { type: 'es6' }, swcrc: false }
      })
      const target = join(compiled, room, name.replace(/\.ts$/, '.js'))
      mkdirSync(dirname(target), { recursive: true })
      writeFileSync(target, code)
    }
  }
  return pathToFileURL(join(compiled, 'analysis/results/parallel/scan-worker.js'))
}
