import { expect, test } from '@jest/globals'
import { readFileSync } from 'node:fs'

interface LockFile {
  readonly packages: Record<string, { readonly optionalDependencies?: Record<string, string> }>
}

/**
 * npm leaves out of a lock file what it cannot find or does not need on the machine that writes it, and `npm ci` then refuses the lock
 * file, on that machine and on all others.
 */
test.each(['package-lock.json', 'bench/package-lock.json', 'packages/browser/package-lock.json'])(
  '%s has the optional packages of every platform',
  (file) => {
    const { packages } = JSON.parse(readFileSync(file, 'utf8')) as LockFile
    const optional = Object.values(packages).flatMap((one) => Object.keys(one.optionalDependencies ?? {}))
    const places = Object.keys(packages)
    const missing = optional.filter((name) => !places.some((place) => place.endsWith(`node_modules/${name}`)))
    expect(places.length).toBeGreaterThan(1)
    expect(missing).toEqual([])
  }
)
