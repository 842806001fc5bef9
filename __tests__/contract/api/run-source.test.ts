import { expect, test } from '@jest/globals'
import { describeSource, readSource, withoutCommit } from '../../../src/contract/api/run-source.js'

const SHA = '0123456789abcdef0123456789abcdef01234567'
const SOURCE = {
  commit: `https://github.com/acme/shop/commit/${SHA}`,
  pullRequest: 'https://github.com/acme/shop/pull/12',
  workflowRun: 'https://github.com/acme/shop/actions/runs/99'
}

test('what is written is read again', () => {
  const notes = describeSource(SOURCE)!
  expect(notes.split('\n')).toHaveLength(3)
  const { parts, rest } = readSource(notes)
  expect(parts.map(({ key, address }) => [key, address])).toEqual(Object.entries(SOURCE))
  expect(parts.map(({ word }) => word)).toEqual(['0123456', '#12', '99'])
  expect(rest).toBe('')
})

test('what is not known is left out', () => {
  expect(describeSource({})).toBeUndefined()
  expect(describeSource({ commit: SOURCE.commit, pullRequest: undefined })).toBe(`Commit: ${SOURCE.commit}`)
})

test('notes of people stay as they are, also those that look alike', () => {
  const own = [
    'of the night',
    'Commit: later',
    'Commit: https://x.example/other',
    'commit: https://a/commit/1234567'
  ]
  const { parts, rest } = readSource(
    [...own, `Commit: ${SOURCE.commit}`, `Commit: ${SOURCE.commit}`].join('\r\n')
  )
  expect(parts).toHaveLength(1)
  expect(rest.split('\n')).toEqual([...own, `Commit: ${SOURCE.commit}`])
})

test.each([
  ['GitLab', 'https://gitlab.com/a/b/-/merge_requests/7', '#7'],
  ['Bitbucket', 'https://bitbucket.org/a/b/pull-requests/8', '#8'],
  ['Gitea', 'https://git.example/a/b/pulls/9', '#9']
])('pull requests of %s', (_, address, word) => {
  expect(readSource(`Pull request: ${address}`).parts).toMatchObject([{ word, address }])
})

test('a base is of another commit', () => {
  expect(withoutCommit(describeSource(SOURCE))).toBe(
    `Pull request: ${SOURCE.pullRequest}\nWorkflow run: ${SOURCE.workflowRun}`
  )
  expect(withoutCommit(`Commit: ${SOURCE.commit}`)).toBeUndefined()
  expect(withoutCommit('by hand\nCommit to nothing')).toBe('by hand\nCommit to nothing')
  expect(withoutCommit(undefined)).toBeUndefined()
})
