import { expect, test } from '@jest/globals'
import { readFileSync } from 'node:fs'

interface LockFile {
  readonly packages: Record<
    string,
    { readonly version?: string; readonly optionalDependencies?: Record<string, string> }
  >
}

const read = (file: string): LockFile['packages'] =>
  (JSON.parse(readFileSync(file, 'utf8')) as LockFile).packages

/**
 * npm leaves out of a lock file what it cannot find or does not need on the machine that writes it, and `npm ci` then refuses the lock
 * file, on that machine and on all others.
 */
test.each(['package-lock.json', 'bench/package-lock.json', 'packages/browser/package-lock.json'])(
  '%s has the optional packages of every platform',
  (file) => {
    const packages = read(file)
    const optional = Object.values(packages).flatMap((one) => Object.keys(one.optionalDependencies ?? {}))
    const places = Object.keys(packages)
    const missing = optional.filter((name) => !places.some((place) => place.endsWith(`node_modules/${name}`)))
    expect(places.length).toBeGreaterThan(1)
    expect(missing).toEqual([])
  }
)

test('what bench/ bundles the sources with has the versions of the project', () => {
  const [ours, benches] = ['package-lock.json', 'bench/package-lock.json'].map(read) as [
    LockFile['packages'],
    LockFile['packages']
  ]
  const both = Object.keys(benches).filter((place) => place !== '' && place in ours)
  expect(both).toEqual(expect.arrayContaining(['node_modules/esbuild', 'node_modules/saxes']))
  for (const place of both) expect([place, benches[place]!.version]).toEqual([place, ours[place]!.version])
})
