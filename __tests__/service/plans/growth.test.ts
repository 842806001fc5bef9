import { expect, test } from '@jest/globals'
import { readAsideGroups } from '../../../src/analysis/plans/check/aside-groups.js'
import { literalsIn } from '../../../src/analysis/plans/check/source-plan.js'
import { readPlan } from '../../../src/analysis/plans/jmx/plan-tree.js'
import { parseProperties } from '../../../src/analysis/plans/jmx/user-properties.js'
import { parseOverrideHosts, parseOverrideParameters } from '../../../src/service/engines/engine.js'
import { readLabels } from '../../../src/service/plans/labels.js'

const START = '<jmeterTestPlan><hashTree><SetupThreadGroup testname="a"/><hashTree/>'
const END = '</hashTree></jmeterTestPlan>'
const inText = (text: string): string =>
  `${START}<A><stringProp name="a">${text}</stringProp></A><hashTree/>${END}`
const times = (piece: string) => (size: number) => piece.repeat(Math.ceil(size / piece.length))
const around =
  (before: string, piece: string, after = '') =>
  (size: number) =>
    `${before}${times(piece)(size)}${after}`

type Text = (size: number) => string

const PLANS: Readonly<Record<string, Text>> = {
  'elements that are never closed': times('<a>'),
  'attributes that are never closed': times('<a b="'),
  'nothing but signs': times('<'),
  ampersands: around(START, '&a'),
  'a document type': around('<!DOCTYPE a ', '[a', '>'),
  'sections that are never closed': around(START, '<![CDATA['),
  'comments that are never closed': around(START, '<!-- '),
  'references to control characters': around(START, '&#0000001'),
  'groups with unknown names': around(START, '<SetupThreadGroup testname="${__P(a)}"/><hashTree/>', END),
  'variables that are never closed': (size) => inText(times('${')(size)),
  'calls that are never closed': (size) => inText(times('vars.put(  ')(size)),
  'one long call': (size) => inText(`vars.put${times('a')(size)}`),
  spaces: (size) => inText(`setProperty(${times(' ')(size)}`),
  commas: (size) => inText(times(', ')(size)),
  modules: around(
    START,
    '<ModuleController testname="a"><stringProp name="x">a</stringProp></ModuleController><hashTree/>',
    END
  )
}

const SOURCES: Readonly<Record<string, Text>> = {
  quotes: times('"'),
  'strings that are never closed': times('"\\'),
  'strings of other kinds': times('"a\'b`c'),
  backslashes: around('"', '\\'),
  'comments that are never closed': times('/* '),
  comments: times('/**/ // '),
  'calls that are never closed': times('http( '),
  'one long argument': around('passed_transaction(', 'a'),
  'steps that are never closed': times('step.if('),
  spaces: around('http(', ' ')
}

const CASES: [string, Text, (text: string) => unknown][] = [
  ...Object.entries(PLANS).flatMap(([name, text]): typeof CASES => [
    [`a plan: ${name}`, text, readPlan],
    [
      `the groups of a plan: ${name}`,
      text,
      (plan) =>
        readAsideGroups(plan, {
          ...{ others: [], parameters: [] },
          ...{ threads: undefined, rampupSeconds: undefined, durationSeconds: undefined }
        })
    ]
  ]),
  ...Object.entries(SOURCES).flatMap(([name, text]): typeof CASES => [
    [`a source: ${name}`, text, literalsIn],
    [`the labels of a source: ${name}`, text, (source) => readLabels('Plan.java', source)],
    [`the labels of a script: ${name}`, text, (source) => readLabels('plan.js', source)]
  ]),
  ['properties: backslashes', around('a=', '\\', 'x'), parseProperties],
  ['properties: a line that goes on', times('\\\n'), parseProperties],
  ['properties: spaces', around('a', ' ', 'b'), parseProperties],
  ['parameters: spaces', around('-Ja=', ' ', 'b'), parseOverrideParameters],
  ['parameters: commas', around('', ',', 'b'), parseOverrideParameters],
  ['hosts: dots', around('', '.1', 'b'), parseOverrideHosts]
]

const SIZE = 20_000
const FACTOR = 8
/** Eight times the text takes 64 times as long where each character is read again for every other one. */
const MOST = 3 * FACTOR
/** Below this, other things count. */
const LEAST_MS = 20

/** Time of the processor, whoever else needs it; the shortest of a few, for garbage is collected now and then. */
function measure(read: (text: string) => unknown, text: string): number {
  const once = (): number => {
    const before = process.cpuUsage()
    read(text)
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1000
  }
  return Math.min(once(), once(), once())
}

test.each(CASES)('eight times as much takes about eight times as long: %s', (_name, textOf, read) => {
  const short = measure(read, textOf(SIZE))
  expect(measure(read, textOf(SIZE * FACTOR))).toBeLessThan(MOST * Math.max(short, LEAST_MS))
})
