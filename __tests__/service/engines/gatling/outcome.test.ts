import { describe, expect, test } from '@jest/globals'
import {
  Console,
  findProblem,
  listAssertions
} from '../../../../src/service/engines/gatling/run-simulation.js'

/** With what is squeezed in a table. */
const SECRET = `hunter${'#'.repeat(12)}99`
const redact = (text: string): string => text.replaceAll(SECRET, '***')

function say(lines: readonly string[]): { said: Console; shown: string[] } {
  const shown: string[] = []
  const console = new Console({ mark: 'x1', redact, onLine: (line) => shown.push(line) })
  for (const line of lines) console.push(line)
  return { said: console, shown }
}

const exited = (code: number): { code: number; signal: null } => ({ code, signal: null })
const problemOf = (code: number, lines: readonly string[], firstError = ''): string | null =>
  findProblem({ exit: exited(code), said: say(lines).said, firstError, version: '3.15.1' })

describe('Gatling’s console output', () => {
  test('is shown without rules and without what is meant for the service', () => {
    const { shown } = say([
      'Simulation Plan started...',
      '='.repeat(120),
      `---- Requests ${'-'.repeat(70)}|---Total---|`,
      '   ',
      'loadgate x1: failed: java.lang.Error: no',
      'loadgate x1: end of run'
    ])
    expect(shown).toEqual(['Simulation Plan started...', '---- Requests ---|---Total---|'])
  })

  test('secrets are redacted before anything is left out', () => {
    const broken = `Global: ${SECRET} is less than 1.0 : false (actual : 50.0)`
    const { said, shown } = say([`B ${SECRET}`, broken, `loadgate x1: failed: ${SECRET}`])
    expect(shown[0]).toBe('B ***')
    expect(said.failures).toEqual(['***'])
    expect(JSON.stringify({ said, shown })).not.toContain('hunter')
    const long = `loadgate x1: failed: ${'x'.repeat(3940)}${SECRET}`
    expect(problemOf(1, [long, 'loadgate x1: end of run'])).toMatch(/x\*+$/)
  })

  test('lines of the service’s own have the word of the run', () => {
    const { said, shown } = say(['loadgate: end of run', 'loadgate x2: end of run', 'loadgate : failed: x'])
    expect(said).toMatchObject({ isEnded: false, failures: [] })
    expect(shown).toHaveLength(3)
  })

  test('its last lines are kept, not all of them', () => {
    const lines = Array.from({ length: 1000 }, (_, index) => `line ${index}`)
    expect(say(lines).said.lastLines).toHaveLength(40)
    expect(say(lines).said.lastLines.at(-1)).toBe('line 999')
  })
})

describe('how a simulation ended', () => {
  test('to its end, with exit code 0', () => {
    expect(problemOf(0, ['loadgate x1: end of run'])).toBeNull()
  })

  test('an exit of the plan is no end, whatever its code', () => {
    expect(problemOf(0, ['bye'])).toBe(
      'Gatling 3.15.1 did not run the plan to its end (exit code 0):\nDoes the plan call System.exit?\nIts last lines:\nbye'
    )
    expect(problemOf(0, [])).toMatch(/\nIt printed nothing$/)
  })

  test('a plan that prints the words of the end in a line of its own text has not ended', () => {
    expect(problemOf(0, ['it said: loadgate x1: end of run'])).toMatch(/did not run the plan to its end/)
  })

  test('killed', () => {
    const exit = { code: null, signal: 'SIGKILL' }
    const { said } = say(['started'])
    const problem = findProblem({ exit, said, firstError: 'a: odd', version: '3.15.1' })
    expect(problem).toMatch(
      /^Gatling 3\.15\.1 did not run the plan to its end \(killed by SIGKILL\):\nSomething outside .*short of memory.*\nIts last lines:\nstarted$/
    )
    expect(problem).not.toContain('System.exit')
  })

  test.each([
    {
      error: 'Gatling crashed: j.l.NoClassDefFoundError: com/acme/Lib',
      advice: 'A class is missing or of another version: compile the plan with Gatling 3.15.1, and upload'
    },
    { error: 'Gatling crashed: j.l.StackOverflowError', advice: 'The plan calls itself without end' }
  ])('a crash, in the words of the log: $error', ({ error, advice }) => {
    const problem = problemOf(1, ['Simulation Plan started...'], error)
    expect(problem).toContain(`(exit code 1):\n${advice}`)
    expect(problem).toContain(
      `\nThe first error in its log: ${error}\nIts last lines:\nSimulation Plan started...`
    )
    expect(problem).not.toContain('System.exit')
  })

  test('out of memory', () => {
    const lines = ['started', 'Terminating due to java.lang.OutOfMemoryError: Java heap space']
    expect(problemOf(3, lines)).toBe(
      'Gatling 3.15.1 did not run the plan to its end (exit code 3):\nTerminating due to java.lang.OutOfMemoryError: Java heap space\nGive it more memory with the environment variable HEAP, such as HEAP=-Xmx4g'
    )
  })

  describe('assertions are lines of their own', () => {
    const broken = 'Global: percentage of failed events is less than 1.0 : false (actual : 50.0)'
    const held = 'Global: max of response time is less than 5000.0 : true (actual : 12.0)'
    const linesOf = (code: number, lines: readonly string[]): unknown =>
      listAssertions(exited(code), say([...lines, 'loadgate x1: end of run']).said)
    const HELD = { text: 'Gatling: Global: max of response time is less than 5000.0', holds: true }

    test('one that does not hold is no problem', () => {
      expect(problemOf(2, [held, broken, 'loadgate x1: end of run'])).toBeNull()
      expect(linesOf(2, [held, broken])).toEqual([
        HELD,
        {
          ...{ text: 'Gatling: Global: percentage of failed events is less than 1.0', holds: false },
          joins: { by: 'range', isOneSided: true }
        }
      ])
    })

    test('one on a request that does not exist is named', () => {
      const unknown =
        'nothere: max of response time is less than 5.0 : false (Could not find stats matching assertion path List(nothere))'
      expect(linesOf(2, [unknown])).toEqual([
        {
          ...{ text: 'Gatling: nothere: max of response time is less than 5.0', holds: false, isEmpty: true },
          reason: expect.stringContaining('no request or group of that name')
        }
      ])
    })

    test('Gatling’s exit code decides: a plan can print such lines, and leave them out', () => {
      expect(linesOf(0, [held, broken])).toEqual([HELD])
      expect(linesOf(2, [held])).toEqual([
        HELD,
        { text: 'Gatling: assertions of the simulation', holds: false }
      ])
    })

    test('none if the simulation did not run to its end, or failed', () => {
      expect(listAssertions(exited(2), say([broken]).said)).toEqual([])
      expect(linesOf(2, [broken, 'loadgate x1: failed: A: a'])).toEqual([])
      expect(linesOf(1, [broken])).toEqual([])
    })
  })

  test('an exception, with its cause', () => {
    const lines = [
      'loadgate x1: failed: A: a (Plan.java:3)',
      'loadgate x1: failed: B: b',
      'loadgate x1: end of run'
    ]
    expect(problemOf(1, lines)).toBe(
      'Gatling 3.15.1 could not run the plan (exit code 1):\nA: a (Plan.java:3)\nB: b'
    )
  })

  test('a class of another version', () => {
    const lines = ['loadgate x1: failed: java.lang.NoSuchMethodError: x', 'loadgate x1: end of run']
    expect(problemOf(1, lines)).toMatch(
      /compile the plan with Gatling 3\.15\.1, and upload its libraries as \.jar files/
    )
  })

  test('a long message is cut', () => {
    expect(
      problemOf(1, [`loadgate x1: failed: ${'x'.repeat(8000)}`, 'loadgate x1: end of run'])
    ).toHaveLength(4000)
  })
})
