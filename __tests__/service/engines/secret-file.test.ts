import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { NodeOrder } from '../../../src/service/engines/engine.js'
import { javaProperties } from '../../../src/service/engines/secret-file.js'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'loadgate-secret-file-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

test('a Java program reads its secrets from a file, as its launcher wants them', async () => {
  const order = {
    planFile: join(folder, 'node-1', 'Plan.java'),
    node: { pathOf: (file: string) => `/node${file}` },
    properties: [
      { kind: 'J', name: 'tenant', value: 'a "b\\c\n#d', isSecret: true },
      { kind: 'J', name: 'password', value: '' },
      { kind: 'J', name: 'users', value: '5' }
    ]
  } as unknown as NodeOrder
  const given = Object.fromEntries(order.properties.map(({ name, value }) => [name, value]))
  const { args, files, remove } = await javaProperties(order, { ...given, own: 'x' })
  // Not in the folder of the plan, which could put something else there.
  const file = join(folder, 'node-1.java')
  expect(files).toEqual([file])
  expect(args).toEqual(['-Dpassword=', '-Dusers=5', '-Down=x', `@/node${file}`])
  expect(readFileSync(file, 'utf8')).toBe('"-Dtenant=a \\"b\\\\c\\n#d"\n')
  expect(statSync(file).mode & 0o777).toBe(0o600)
  remove()
  expect(readdirSync(folder)).toEqual([])
})
