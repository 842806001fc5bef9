import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { describe, expect, test } from '@jest/globals'

/** Folders whose messages are not checked yet. */
const EXEMPT: readonly string[] = []

/** Phrases that nobody in this field uses, and what to write instead. */
const PHRASES: readonly [phrase: RegExp, instead: string][] = [
  [/\bcould (not )?be had\b/i, 'could not be downloaded'],
  [/\b(had|read|arrive) whole\b/i, 'downloaded completely, complete'],
  [/\b(is|are) not whole\b/i, 'is incomplete'],
  [/\bmend(s|ed|ing)?\b/i, 'fix'],
  [/\bto be told only\b/i, 'to report only'],
  [/\bthis is never green\b/i, 'inconclusive never passes'],
  [/\bawaited\b/i, 'did not shut down cleanly, waited for'],
  [/\btaken up\b/i, 'continuing with it'],
  [/\bwatched on\b/i, 'still waiting'],
  [/\bnot known here\b/i, 'unknown'],
  [/\b(was|were) due\b/i, 'expected'],
  [/\btells? (its|their|a|the) (flags|version)\b/i, 'lists, prints'],
  [/\b(path|glob|pattern|threshold|entry|tag|one) a line\b/i, 'one per line'],
  [/\bone a run\b/i, 'one per run'],
  [/\b(samples|requests|calls) a (second|minute)\b/i, 'per second'],
  [/\bwithout meaning\b/i, 'ignored'],
  [/\bas the input \S+ of the action\b/i, 'the description of the input'],
  [/\bcomes? to (its|their) end\b|\bcame to (its|their) end\b/i, 'ended, finished'],
  [/\bended badly\b/i, 'failed'],
  [/\btook no samples?\b|\bsamples were taken\b/i, 'recorded no samples'],
  [/\bin place of which\b/i, 'instead'],
  [/\bof (your|their|its) own (and|has|have|words)\b/i, 'your own …'],
  [/\bis no (json|proxy|id|measurement|file name|csv)\b/i, 'is not a …'],
  [/\bmake room\b|\bno room left\b/i, 'free up space'],
  [/\bcan only be read\b/i, 'read-only'],
  [/\bcould not be found out\b/i, 'could not look for'],
  [/\bthan what is accepted\b/i, 'too large'],
  [/\b(did|does) not come in time\b/i, 'timed out'],
  [/\bcannot go on\b/i, 'cannot continue'],
  [/\b(cannot|could not) be kept\b/i, 'could not be saved'],
  [/\bcame where\b/i, 'expected …, got …'],
  [/\bno whole csv\b/i, 'no complete CSV'],
  [/\bis no (address|grid's uuid)\b/i, 'is not a …'],
  [/\b(run|grid|it|nothing|…) was made\b|\b(is|are) being made\b/i, 'was created'],
  [/\bsomebody\b/i, 'someone, another user'],
  [/\bcannot be told (which|from)\b/i, 'it is unclear which'],
  [/\bis not known\b/i, 'is unknown'],
  [/\bwithout words\b/i, 'without a message'],
  [/\b(has|have) no meaning\b/i, 'has no effect'],
  [/\basked for\b/i, 'requested'],
  [/\bmust not hold\b|\bholds comments\b/i, 'must not contain'],
  [/\bdoes not go on\b/i, 'stops'],
  [/\bcould not be looked (at|up)\b/i, 'could not check'],
  [/\bfiles lie\b/i, 'the files are'],
  [/\bleft to itself\b/i, 'left running'],
  [/\b(is|are) borne\b/i, 'plain English']
]

function filesBelow(folder: string, ending: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => path.endsWith(ending))
    .sort()
}

/** Every string literal of a source file, a template with `…` for what is filled in. */
function textsOf(source: ts.SourceFile): string[] {
  const texts: string[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) texts.push(node.text)
    if (ts.isTemplateExpression(node))
      texts.push(
        [node.head, ...node.templateSpans.map(({ literal }) => literal)].map(({ text }) => text).join('…')
      )
    ts.forEachChild(node, visit)
  }
  visit(source)
  return texts
}

function findPhrases(texts: readonly string[]): string[] {
  return texts.flatMap((text) =>
    PHRASES.flatMap(([phrase, instead]) => {
      const found = phrase.exec(text.replace(/\s+/g, ' '))
      return found === null ? [] : [`"${found[0]}" (write: ${instead}) in: ${text.slice(0, 200)}`]
    })
  )
}

const SOURCES = filesBelow('src', '.ts').filter((path) => !EXEMPT.some((folder) => path.startsWith(folder)))
const DOCUMENTS = [
  'README.md',
  'action.yml',
  'grid-start/action.yml',
  'grid-stop/action.yml',
  ...filesBelow('docs', '.md')
]

test.each(SOURCES)('the messages of %s are in plain English', (path) => {
  const source = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest)
  expect(findPhrases(textsOf(source))).toEqual([])
})

test.each(DOCUMENTS)('%s is in plain English', (path) => {
  expect(findPhrases(readFileSync(path, 'utf8').split('\n'))).toEqual([])
})

describe('the check', () => {
  test.each([
    ['a string', "log('The CSV could not be had whole')"],
    ['a template', 'log(`Run ${id} was made; it is taken up`)'],
    ['a template without values', 'log(`JSON came where a CSV was due`)'],
    ['a string within a template', "log(`${isKnown ? '' : 'which is not known here; it is watched on'}`)"],
    ['text across a line break', 'log(`tells\nits flags`)']
  ])('finds a phrase in %s', (_, code) => {
    const texts = textsOf(ts.createSourceFile('x.ts', code, ts.ScriptTarget.Latest))
    expect(findPhrases(texts)).not.toEqual([])
  })

  test('reads a file with messages, and no comments', () => {
    const texts = textsOf(ts.createSourceFile('x.ts', "// mend it\nlog('fix it')", ts.ScriptTarget.Latest))
    expect(texts).toEqual(['fix it'])
    expect(SOURCES.length).toBeGreaterThan(100)
    expect(DOCUMENTS.length).toBeGreaterThan(5)
  })
})
