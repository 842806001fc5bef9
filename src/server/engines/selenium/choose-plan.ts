import { basename } from 'node:path'
import { ToolError } from '../../errors.js'

/** What to run: a class with a `main` method, or classes with JUnit 5 tests. */
export type PlanChoice = readonly ['main', string] | readonly ['test', ...string[]]

/** Chooses among what the compiled classes offer, as lines of `main Name`, `test Name` and `old-test Name`. */
export function choosePlan(lines: readonly string[], fileNames: readonly string[]): PlanChoice {
  const named = (kind: string): string[] =>
    lines.filter((line) => line.startsWith(`${kind} `)).map((line) => line.slice(kind.length + 1))
  const mains = named('main')
  const tests = named('test')
  // By Java's own rule a file has the name of its public class. Others may have a main for purposes of their own.
  const plan = basename(fileNames[0] ?? '', '.java')
  const chosen = mains.filter((name) => simpleName(name) === plan)
  if (chosen.length === 1 && chosen[0] !== undefined) return ['main', chosen[0]]
  if (chosen.length === 0 && tests.some((name) => simpleName(name) === plan)) return ['test', ...tests]
  const [first, ...others] = mains
  if (first !== undefined && others.length === 0) return ['main', first]
  if (mains.length > 1)
    throw new ToolError(
      `The plan has ${mains.length} classes with a main method (${mains.join(', ')}), and none is called ${plan} like its first file: leave one, or name the file after the class to run`
    )
  if (tests.length > 0) return ['test', ...tests]
  const oldTests = named('old-test')
  throw new ToolError(
    oldTests.length > 0
      ? `The plan has tests for JUnit 4 (${oldTests.join(', ')}), which are not run: import org.junit.jupiter.api.Test instead of org.junit.Test (JUnit 5), or write a class with public static void main(String[] args)`
      : `The plan has nothing to run: neither a class with public static void main(String[] args) nor a JUnit 5 test is in ${fileNames.filter((name) => name.endsWith('.java')).join(', ')}`
  )
}

function simpleName(name: string): string {
  return name.slice(Math.max(name.lastIndexOf('.'), name.lastIndexOf('$')) + 1)
}
