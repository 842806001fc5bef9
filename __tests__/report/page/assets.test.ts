import { expect, test } from '@jest/globals'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { PAGE_SCRIPT, PAGE_STYLE } from '../../../src/report/page/assets.js'

test('the embedded script and style are what page/ and the pinned libraries give', async () => {
  await promisify(execFile)(process.execPath, ['scripts/page-assets.mjs', '--check'])
}, 60_000)

test('the embedded script carries the license of what it holds', () => {
  expect(PAGE_SCRIPT).toContain('Leon Sorokin')
})

test('nothing in script or style could end its element or load a thing', () => {
  expect(PAGE_SCRIPT).not.toMatch(/<\/script|<!--|\bimport\(|https?:\/\/(?!www\.w3\.org)/i)
  expect(PAGE_STYLE).not.toMatch(/<|url\(|@import/)
})
