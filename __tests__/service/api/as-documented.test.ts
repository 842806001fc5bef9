import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { readFileSync } from 'node:fs'
import { OPERATIONS } from './documented/operations.js'
import { RESOURCES } from './documented/resources.js'
import { RULES } from './documented/rules.js'
import { createWorld, type World } from './documented/world.js'

// Every statement of the API document, one row each, held against the running service.

const ROWS = [...RESOURCES, ...OPERATIONS, ...RULES]
let world: World
beforeAll(async () => {
  world = await createWorld()
}, 120_000)
afterAll(() => world.close())

test.each(ROWS)('$says', async ({ found, is }) => {
  expect(await found(world)).toEqual(is)
})

test('what differs here is in the table of docs/api.md, and nothing else is', () => {
  const [, section = ''] = readFileSync('docs/api.md', 'utf8').split('\n## What differs from the documents\n')
  const [, , ...lines] = section
    .split(/\n## /)[0]!
    .split('\n')
    .filter((line) => line.startsWith('|'))
  const documented = lines.map((line) => line.split('|')[1]!.trim())
  const differences = new Set(ROWS.flatMap(({ differs }) => differs ?? []))
  expect(documented.sort()).toEqual([...differences].sort())
})
