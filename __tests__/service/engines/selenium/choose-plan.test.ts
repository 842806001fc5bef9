import { expect, test } from '@jest/globals'
import { choosePlan } from '../../../../src/service/engines/selenium/compile.js'

test.each([
  { what: 'one main', lines: ['main shop.Load'], files: ['Plan.java'], choice: ['main', 'shop.Load'] },
  {
    what: 'the main of the first file',
    lines: ['main A', 'main shop.Plan'],
    files: ['Plan.java', 'A.java'],
    choice: ['main', 'shop.Plan']
  },
  { what: 'a main before tests', lines: ['main A', 'test B'], files: ['C.java'], choice: ['main', 'A'] },
  {
    what: 'the tests of the first file before the mains of others',
    lines: ['main A', 'main C', 'test shop.B', 'test D'],
    files: ['B.java', 'A.java', 'C.java', 'D.java'],
    choice: ['test', 'shop.B', 'D']
  },
  {
    what: 'the main of the first file before its tests',
    lines: ['main A', 'main B', 'test B'],
    files: ['B.java', 'A.java'],
    choice: ['main', 'B']
  },
  { what: 'all tests', lines: ['test A', 'test B'], files: ['A.java'], choice: ['test', 'A', 'B'] },
  {
    what: 'tests that are also for JUnit 4',
    lines: ['old-test A', 'test A'],
    files: ['A.java'],
    choice: ['test', 'A']
  }
])('chooses $what', ({ lines, files, choice }) => {
  expect(choosePlan(lines, files)).toEqual(choice)
})

test.each([
  {
    what: 'two mains',
    lines: ['main A', 'main B'],
    says: /2 classes with a main method \(A, B\), and none is called Plan/
  },
  {
    what: 'two mains of the same name',
    lines: ['main a.Plan', 'main b.Plan'],
    says: /2 classes with a main method \(a\.Plan, b\.Plan\)/
  },
  { what: 'tests for JUnit 4', lines: ['old-test A'], says: /JUnit 4 \(A\).*org\.junit\.jupiter/ },
  { what: 'nothing', lines: [], says: /nothing to run: neither .* is in Plan\.java$/ }
])('refuses $what', ({ lines, says }) => {
  expect(() => choosePlan(lines, ['Plan.java', 'users.csv'])).toThrow(says)
})
