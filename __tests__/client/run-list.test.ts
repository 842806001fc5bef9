import { describe, expect, test } from '@jest/globals'
import type { RunPage } from '../../src/contract/api.js'
import { readRunList, type RunList } from '../../src/client/run-list.js'
import { makeRun } from '../support/gate/gate-ports.js'

type Page = Partial<RunPage> & { ids?: string[] }

/** Reads a list whose pages are these, by the link that leads to them; the first one is at `1`. */
async function read(
  pages: Record<string, Page>,
  mostPages = 10
): Promise<RunList & { ids: string[]; asked: string[] }> {
  const asked: string[] = []
  const listRuns = async (link = '1'): Promise<RunPage> => {
    asked.push(link)
    const { ids = [], ...rest } = pages[link]!
    return { runs: ids.map((id) => makeRun({ id })), leftOut: 0, total: undefined, next: undefined, ...rest }
  }
  const list = await readRunList({ listRuns }, { mostPages })
  return { ...list, ids: list.runs.map(({ id }) => id), asked }
}

test('every page is read, in their order', async () => {
  const { ids, total, isWhole } = await read({
    1: { ids: ['a', 'b'], next: '2', total: 3 },
    2: { ids: ['c'] }
  })
  expect({ ids, total, isWhole }).toEqual({ ids: ['a', 'b', 'c'], total: 3, isWhole: true })
})

test('a run that comes twice, since the pages shifted or by itself, counts once: as it came first', async () => {
  const { ids } = await read({ 1: { ids: ['a', 'b', 'b'], next: '2' }, 2: { ids: ['b', 'c'] } })
  expect(ids).toEqual(['a', 'b', 'c'])
})

describe('the reading comes to its end', () => {
  test.each<[string, Record<string, Page>, string[]]>([
    [
      'where a page leads to itself',
      { 1: { ids: ['a'], next: '2' }, 2: { ids: ['b'], next: '2' } },
      ['1', '2']
    ],
    [
      'where pages lead in a circle',
      { 1: { ids: ['a'], next: '2' }, 2: { ids: ['b'], next: '3' }, 3: { ids: ['a', 'c'], next: '2' } },
      ['1', '2', '3']
    ],
    [
      'where a page brings nothing new',
      { 1: { ids: ['a'], next: '2' }, 2: { ids: ['a'], next: '3' } },
      ['1', '2']
    ],
    ['where a page is empty', { 1: { next: '2' } }, ['1']]
  ])('%s', async (_, pages, expected) => {
    const { asked, isWhole } = await read(pages)
    expect(asked).toEqual(expected)
    expect(isWhole).toBe(true)
  })

  test('after the most pages, where every page brings something new', async () => {
    const pages = Object.fromEntries(
      Array.from({ length: 50 }, (_, at) => [String(at + 1), { ids: [`r${at}`], next: String(at + 2) }])
    )
    const { asked, isWhole } = await read(pages, 7)
    expect(asked).toHaveLength(7)
    expect(isWhole).toBe(false)
  })
})

test('a page of entries that cannot be read does not hide what comes behind it', async () => {
  const { ids } = await read({
    1: { ids: ['a'], next: '2' },
    2: { leftOut: 50, next: '3' },
    3: { ids: ['ours'] }
  })
  expect(ids).toEqual(['a', 'ours'])
})
