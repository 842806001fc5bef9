import { expect, test } from '@jest/globals'
import { TagTable } from '../../../../src/analysis/results/formats/tag-table.js'

const MEBIBYTE = 1024 ** 2

test('of tags that are too long in all, the first ones are forgotten', () => {
  const table = new TagTable()
  const written = Array.from({ length: 17 }, (_, i) => new DataView(new Uint8Array(MEBIBYTE).fill(i).buffer))
  const isKnown = (tags: DataView): boolean => table.find(tags, 0, MEBIBYTE) !== undefined
  for (const tags of written.slice(0, 16)) table.add({ written: tags, texts: {}, frames: {} })
  expect(written.filter(isKnown)).toHaveLength(16)
  table.add({ written: written[16]!, texts: {}, frames: {} })
  expect(written.filter(isKnown)).toEqual([written[16]])
})
