import { describe, expect, test } from '@jest/globals'
import { readFileSync } from 'node:fs'

/** Instructions with their continuation lines, without comments. */
function instructionsOf(file: string): string[] {
  const lines = readFileSync(file, 'utf8').replace(/^#.*\n/gm, '')
  return lines
    .replace(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line.trim() !== '')
}

const FILE = 'images/node/Dockerfile'
const instructions = instructionsOf(FILE)
const stages = instructions
  .map((line) => /^FROM (\S+) AS (\S+)$/.exec(line)?.slice(1))
  .filter((stage) => stage !== undefined) as [image: string, name: string][]

describe(FILE, () => {
  test('every base is pinned by its digest, or is an earlier stage', () => {
    const names = stages.map(([, name]) => name)
    const loose = stages.filter(
      ([image], index) => !/@sha256:[0-9a-f]{64}$/.test(image) && !names.slice(0, index).includes(image)
    )
    expect(loose).toEqual([])
    expect(names).toEqual(expect.arrayContaining(['node', 'browsers']))
    expect(stages).toHaveLength(instructions.filter((line) => line.startsWith('FROM')).length)
  })

  test.each(['node', 'browsers'])('%s ends as a user that is not root, by number', (name) => {
    const start = instructions.findIndex((line) => line.startsWith('FROM') && line.endsWith(` AS ${name}`))
    const rest = instructions.slice(start + 1)
    const next = rest.findIndex((line) => line.startsWith('FROM'))
    const users = rest.slice(0, next < 0 ? undefined : next).filter((line) => line.startsWith('USER'))
    expect(users.at(-1)).toBe('USER 65534:65534')
  })

  test('packages come without recommendations and leave no lists', () => {
    const installs = instructions.filter((line) => line.includes('apt-get install'))
    expect(installs.length).toBeGreaterThan(2)
    for (const line of installs)
      expect(line).toMatch(/apt-get install -y --no-install-recommends .* && rm -rf \/var\/lib\/apt\/lists/)
  })

  test('nothing is downloaded past a package manager', () => {
    expect(instructions.filter((line) => /\b(curl|wget)\b|^ADD /.test(line))).toEqual([])
  })
})
