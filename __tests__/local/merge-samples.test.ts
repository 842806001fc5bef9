import { afterAll, describe, expect, test } from '@jest/globals'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { mergeSamples } from '../../src/local/merge-samples.js'
import { createFolders } from './support.js'

const folders = createFolders()
afterAll(() => folders.remove())

async function merge(...contents: (string | null)[]): Promise<{ merged: string; seen: string[] }> {
  const dir = folders.create()
  const files = contents.map((content, index) => {
    const file = join(dir, `${index}.csv`)
    if (content !== null) writeFileSync(file, content)
    return file
  })
  const seen = contents.map(() => '')
  const target = join(dir, 'results', 'merged.csv')
  await mergeSamples({
    files,
    target,
    sinkOf: (index) => (rows) => {
      seen[index] = (seen[index] ?? '') + Buffer.from(rows).toString()
    }
  })
  return { merged: readFileSync(target, 'utf8'), seen }
}

describe('merging the samples of nodes', () => {
  test.each([
    { name: 'one node', files: ['h\n1\n2\n'], merged: 'h\n1\n2\n' },
    { name: 'two nodes, one header', files: ['h\n1\n', 'h\n2\n'], merged: 'h\n1\n2\n' },
    { name: 'a cut last row', files: ['h\n1\n2,cu', 'h\n3\n'], merged: 'h\n1\n3\n' },
    { name: 'a line feed in quotes', files: ['h\n1,"a\nb"\n'], merged: 'h\n1,"a\nb"\n' },
    { name: 'a row cut within quotes', files: ['h\n1\n2,"a\nb', 'h\n3\n'], merged: 'h\n1\n3\n' },
    { name: 'doubled quotes', files: ['h\n1,"a ""b""\nc"\n2\n'], merged: 'h\n1,"a ""b""\nc"\n2\n' },
    { name: 'a node that never wrote', files: [null, 'h\n1\n'], merged: 'h\n1\n' },
    { name: 'a node that wrote nothing', files: ['', 'h\n1\n'], merged: 'h\n1\n' },
    { name: 'a node with a header only', files: ['h\n', 'h\n1\n'], merged: 'h\n1\n' },
    { name: 'nobody', files: [null], merged: '' }
  ])('$name', async ({ files, merged }) => {
    expect((await merge(...files)).merged).toBe(merged)
  })

  test('every node is read with its own header', async () => {
    expect((await merge('h\n1\n', 'h\n2\n3')).seen).toEqual(['h\n1\n', 'h\n2\n'])
  })

  test('rows longer than what is read at once', async () => {
    const row = `1,"${'x\n'.repeat(900_000)}"\n`
    expect((await merge(`h\n${row}${row}cut`)).merged).toBe(`h\n${row}${row}`)
  })
})
