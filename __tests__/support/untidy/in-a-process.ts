import { expect, test } from '@jest/globals'
import { execFileSync } from 'node:child_process'
import { dirname } from 'node:path'

test('starts a process that leaves a folder', () => {
  const leave =
    'console.log(require("node:fs").mkdtempSync(require("node:path").join(require("node:os").tmpdir(), "left-")))'
  const left = execFileSync(process.execPath, ['-e', leave], { encoding: 'utf8' })
  expect(dirname(left)).toMatch(/loadgate-tests-\w+$/)
})
