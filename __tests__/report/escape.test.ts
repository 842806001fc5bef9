import { describe, expect, test } from '@jest/globals'
import { escapeHtml, escapeMarkdown, safeLink } from '../../src/report/escape.js'
import { HOSTILE } from '../support/data/make-outcome.js'

/** What a reader sees once the entities are resolved. */
function resolve(escaped: string): string {
  return escaped.replace(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)))
}

/** GitHub links nothing in code. */
function outsideCode(escaped: string): string {
  return resolve(escaped.replace(/<code>.*?<\/code>/g, ''))
}

const ZERO_WIDTH = /\u200b/g

describe('Markdown', () => {
  test.each([
    ['a mention', '@org/team', '&#64;&#8203;org/team'],
    ['a reference', 'fixes #12', 'fixes &#35;&#8203;12'],
    ['a reference by GH', 'fixes GH-26, gh-7', 'fixes GH-&#8203;26, gh-&#8203;7'],
    ['an advisory', 'GHSA-jfh8-c2jp-5v3q', 'GHSA-&#8203;jfh8-c2jp-5v3q'],
    ['a reference elsewhere', 'octo/shop#26', 'octo/shop&#35;&#8203;26'],
    ['a short commit', 'at a5c3785.', 'at <code>a5c3785</code>.'],
    [
      'a commit',
      'a5c3785ed8d6a35868bc169f07e40e889087fd2e',
      '<code>a5c3785ed8d6a35868bc169f07e40e889087fd2e</code>'
    ],
    ['a commit elsewhere', 'octo/shop@A5C3785', 'octo/shop&#64;&#8203;<code>A5C3785</code>'],
    ['an address of mail', 'ada@evil.example', 'ada&#64;&#8203;evil.example'],
    ['a tag', '</details><img>', '&#60;/details&#62;&#60;img&#62;'],
    ['a pipe', 'a | b', 'a &#124; b'],
    ['backticks', '`x`', '&#96;x&#96;'],
    ['a link', '[x](y)', '&#91;x&#93;(y)'],
    ['an entity', '&lt;', '&#38;lt;'],
    ['a backslash', '\\|', '&#92;&#124;'],
    ['emphasis', '*a* _b_ ~c~', '&#42;a&#42; &#95;b&#95; &#126;c&#126;'],
    ['an address', 'https://evil.example', 'https&#58;//evil.example'],
    ['an address without scheme', 'WWW.evil.example', 'WWW&#46;evil.example'],
    ['a formula', '$x$', '&#36;x&#36;'],
    ['line breaks', 'a\r\nb\nc\u2028d\u0085e', 'a b c d e'],
    ['a marker', '<!-- loadgate -->', '&#60;!-- loadgate --&#62;'],
    ['direction marks', 'a\u202Eb\u2066c\u200Ed', 'a b c d'],
    ['other controls', 'a\u0000b\u001b[31mc\u007f', 'a b &#91;31mc'],
    ['a list', '- a', '&#45; a'],
    ['a numbered list', '12. a', '12&#46; a'],
    ['another numbered list', '3) a', '3&#41; a'],
    ['a rule', '---', '&#45;--'],
    ['an underline', '===', '&#61;=='],
    ['a plus', '+ a', '&#43; a'],
    ['an indent', '\t    code', 'code']
  ])('%s is only text', (_, text, escaped) => {
    expect(escapeMarkdown(text)).toBe(escaped)
  })

  test.each([
    'plain text',
    'p95 is 1,240 ms – 55 % over',
    'Zwölf Boxkämpfer 🥊',
    '12.5 s',
    'a-b',
    '1700000000000',
    'us-east-1',
    'HIGH-5',
    'run00000001',
    '6f1ed002-ab5a-4d3a-9f0e-0123456789ab'
  ])('%s stays as it is', (text) => expect(escapeMarkdown(text)).toBe(text))

  test('no word of what a reader is shown could be a commit', () => {
    const words = Array.from({ length: 64 }, (_, length) => 'a'.repeat(length + 1))
    const odd = words.filter((word) => /\b[0-9a-f]{7,64}\b/.test(outsideCode(escapeMarkdown(word))))
    expect(odd).toEqual([])
  })

  test('nothing that means anything is left, and everything can still be read', () => {
    const escaped = escapeMarkdown(HOSTILE)
    expect(escaped.replace(/&#\d+;/g, '')).not.toMatch(/[&<>|[\]@#`*_~\\\r\n\u202e]|:\/\//)
    expect(resolve(escaped).replace(ZERO_WIDTH, '')).toBe(HOSTILE.replace(/[\u202e\r\n]+/g, ' '))
  })

  test('every character between letters', () => {
    const odd = Array.from({ length: 0x3000 }, (_, code) => `a${String.fromCharCode(code)}b`).filter(
      (text) => {
        const escaped = escapeMarkdown(text)
        const isAlive = /[&<>|[\]@#`*_~\\$\r\n]/.test(escaped.replace(/&#\d+;/g, ''))
        const read = resolve(escaped).replace(ZERO_WIDTH, '')
        return isAlive || (read !== 'a b' && read !== text.replace(ZERO_WIDTH, ''))
      }
    )
    expect(odd).toEqual([])
  })
})

describe('HTML', () => {
  test.each([
    ['a tag', '<b>', '&#60;b&#62;'],
    ['quotes', `"'\``, '&#34;&#39;&#96;'],
    ['an entity', '&lt;', '&#38;lt;']
  ])('%s is only text', (_, text, escaped) => expect(escapeHtml(text)).toBe(escaped))
})

describe('links', () => {
  test.each([
    ['https', 'https://service.example/runs/1?a=b#c', 'https://service.example/runs/1?a=b#c'],
    [
      'an end of the link within',
      'https://service.example/a)b](c)',
      'https://service.example/a%29b%5D%28c%29'
    ],
    ['quotes', `https://service.example/"'\``, 'https://service.example/%22%27%60'],
    ['a line break', 'https://service.example/a\nb', 'https://service.example/ab'],
    ['a pipe', 'https://service.example/a|b', 'https://service.example/a%7Cb']
  ])('%s is kept, made safe', (_, address, link) => expect(safeLink(address)).toBe(link))

  test.each([
    undefined,
    '',
    'javascript:alert(1)',
    'data:text/html,x',
    'http://service.example',
    'file:///etc/passwd',
    '/runs/1',
    '//evil.example',
    'https://user:secret@service.example',
    'https://token@service.example',
    'https://['
  ])('%s is none', (address) => expect(safeLink(address)).toBeUndefined())
})
