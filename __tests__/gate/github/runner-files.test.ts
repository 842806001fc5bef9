import { expect, test } from '@jest/globals'
import { explainFailure } from '../../../src/gate/github/runner-files.js'

const PLACE = { name: 'GITHUB_STATE', path: '/runner/state' }
const failure = (code: string): Error =>
  Object.assign(new Error(`${code}: x, open '/runner/state'`), { code })

test.each([
  [
    'EACCES',
    /^EACCES: \/runner\/state \(GITHUB_STATE\) is not writable by this user; give the runner's user/
  ],
  ['EPERM', /is not writable by this user/],
  ['EROFS', /is on a read-only file system; mount it/],
  ['ENOSPC', /^ENOSPC: .* is on a full disk; free up space/],
  ['EDQUOT', /free up space/]
])('%s', (code, words) => expect(explainFailure(PLACE, failure(code)).message).toMatch(words))

test.each([
  [
    'the toolkit’s words for a missing file',
    new Error('Missing file at path: /runner/state'),
    /does not exist/
  ],
  [
    'and for one it may not use',
    new Error("Unable to access summary file: '/x'."),
    /is not writable by this/
  ],
  ['anything else is told as it is', new Error('odd'), /^odd \(GITHUB_STATE\)$/],
  ['what is no error too', 'odd', /^odd \(GITHUB_STATE\)$/]
])('%s', (_name, thrown, words) => expect(explainFailure(PLACE, thrown).message).toMatch(words))
