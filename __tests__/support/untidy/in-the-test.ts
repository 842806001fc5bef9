import { expect, test } from '@jest/globals'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

test('leaves a folder', () => {
  mkdtempSync(join(tmpdir(), 'left-'))
  expect(process.env.UNTIDY_OUTCOME).toBe('pass')
})
