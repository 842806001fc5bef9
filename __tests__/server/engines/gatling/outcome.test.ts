import { describe, expect, test } from '@jest/globals'
import { Console, type Said } from '../../../../src/server/engines/gatling/console.js'
import { findProblem } from '../../../../src/server/engines/gatling/outcome.js'

function say(lines: readonly string[]): { said: Said; shown: string[] } {
  const shown: string[] = []
  const console = new Console((line) => shown.push(line))
  for (const line of lines) console.push(line)
  return { said: console.end(), shown }
}

const exited = (code: number): { code: number; signal: null } => ({ code, signal: null })
const problemOf = (code: number, lines: readonly string[]): string | null =>
  findProblem(exited(code), say(lines).said, '3.15.1')

describe('Gatling’s console output', () => {
  test('is shown without rules and without what is meant for the service', () => {
    const { shown } = say([
      'Simulation Plan started...',
      '='.repeat(120),
      `---- Requests ${'-'.repeat(70)}|---Total---|`,
      '   ',
      'loadgate: failed: java.lang.Error: no',
      'loadgate: end of run'
    ])
    expect(shown).toEqual(['Simulation Plan started...', '---- Requests ---|---Total---|'])
  })

  test('its last lines are kept, not all of them', () => {
    const lines = Array.from({ length: 1000 }, (_, index) => `line ${index}`)
    expect(say(lines).said.lastLines).toHaveLength(40)
    expect(say(lines).said.lastLines.at(-1)).toBe('line 999')
  })
})

describe('how a simulation ended', () => {
  test('to its end, with exit code 0', () => {
    expect(problemOf(0, ['loadgate: end of run'])).toBeNull()
  })

  test('an exit of the plan is no end, whatever its code', () => {
    expect(problemOf(0, ['bye'])).toBe(
      'Gatling 3.15.1 did not run the plan to its end (exit code 0):\nDoes the plan call System.exit? Its last lines:\nbye'
    )
    expect(problemOf(0, [])).toMatch(/\nIt printed nothing$/)
  })

  test('a plan that prints the words of the end in a line of its own text has not ended', () => {
    expect(problemOf(0, ['it said: loadgate: end of run'])).toMatch(/did not run the plan to its end/)
  })

  test('killed', () => {
    expect(findProblem({ code: null, signal: 'SIGKILL' }, say(['started']).said, '3.15.1')).toMatch(
      /^Gatling 3\.15\.1 did not run the plan to its end \(killed by SIGKILL\):/
    )
  })

  test('out of memory', () => {
    const lines = ['started', 'Terminating due to java.lang.OutOfMemoryError: Java heap space']
    expect(problemOf(3, lines)).toBe(
      'Gatling 3.15.1 did not run the plan to its end (exit code 3):\nTerminating due to java.lang.OutOfMemoryError: Java heap space\nGive it more memory with the environment variable HEAP, such as HEAP=-Xmx4g'
    )
  })

  test('assertions that do not hold, in Gatling’s words', () => {
    const broken = 'Global: percentage of failed events is less than 1.0 : false (actual : 50.0)'
    const held = 'Global: max of response time is less than 5000.0 : true (actual : 12.0)'
    expect(problemOf(2, [held, broken, 'loadgate: end of run'])).toBe(
      `Gatling 3.15.1 ran the whole plan, and its assertions do not hold:\n${broken}`
    )
  })

  test('an exception, with its cause', () => {
    const lines = ['loadgate: failed: A: a (Plan.java:3)', 'loadgate: failed: B: b', 'loadgate: end of run']
    expect(problemOf(1, lines)).toBe(
      'Gatling 3.15.1 could not run the plan (exit code 1):\nA: a (Plan.java:3)\nB: b'
    )
  })

  test('a class of another version', () => {
    const lines = ['loadgate: failed: java.lang.NoSuchMethodError: x', 'loadgate: end of run']
    expect(problemOf(1, lines)).toMatch(
      /compile the plan with Gatling 3\.15\.1, and upload its libraries as \.jar files/
    )
  })

  test('a long message is cut', () => {
    expect(problemOf(1, [`loadgate: failed: ${'x'.repeat(8000)}`, 'loadgate: end of run'])).toHaveLength(4000)
  })
})
