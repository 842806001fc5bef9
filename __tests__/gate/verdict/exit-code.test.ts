import { describe, expect, test } from '@jest/globals'
import { exitCodeOf, failsStep, failureMessage } from '../../../src/gate/verdict/exit-code.js'

describe('the step and the exit code of the command line', () => {
  test.each([
    ['passed', 'breach', false, 0],
    ['passed', 'never', false, 0],
    ['failed', 'breach', true, 1],
    ['failed', 'never', false, 0],
    ['inconclusive', 'breach', true, 2],
    ['inconclusive', 'never', false, 0],
    ['timed-out', 'breach', true, 2],
    ['timed-out', 'never', true, 2],
    ['error', 'breach', true, 2],
    ['error', 'never', true, 2],
    ['cancelled', 'breach', true, 130],
    ['cancelled', 'never', true, 130],
    ['skipped', 'breach', false, 0],
    ['skipped', 'never', false, 0],
    ['detached', 'breach', false, 0],
    ['detached', 'never', false, 0]
  ] as const)('%s with fail-on: %s', (verdict, failOn, fails, exitCode) => {
    expect(failsStep(verdict, failOn)).toBe(fails)
    expect(exitCodeOf(verdict, failOn)).toBe(exitCode)
  })
})

describe('the message of a failing step', () => {
  test.each([
    ['failed', /^Load gate failed: why\. See the report/],
    ['inconclusive', /^Load gate inconclusive: why\. Inconclusive never passes\. .*fail-on: never/],
    ['timed-out', /^Load gate timed-out: why\. Raise timeout/],
    ['error', /^Load gate error: why\.$/]
  ] as const)('%s says why and what to do', (verdict, message) => {
    expect(failureMessage(verdict, 'why.')).toMatch(message)
  })
})
