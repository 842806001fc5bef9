import { describe, expect, test } from '@jest/globals'
import GATLING_JARS from '../../../../src/service/engines/gatling/gatling-jars.json' with { type: 'json' }
import KOTLIN_COMPILER_JARS from '../../../../src/service/engines/gatling/kotlin-compiler-jars.json' with { type: 'json' }
import SCALA_COMPILER_JARS from '../../../../src/service/engines/gatling/scala-compiler-jars.json' with { type: 'json' }
import { fingerprint, readJar } from '../../../../src/service/engines/install/jars/jar-list.js'
import JMETER_JARS from '../../../../src/service/engines/jmeter/jmeter-jars.json' with { type: 'json' }
import SELENIUM_3_JARS from '../../../../src/service/engines/selenium/selenium-3-jars.json' with { type: 'json' }
import SELENIUM_4_JARS from '../../../../src/service/engines/selenium/selenium-4-jars.json' with { type: 'json' }

const LISTS = [
  JMETER_JARS,
  GATLING_JARS,
  SCALA_COMPILER_JARS,
  KOTLIN_COMPILER_JARS,
  SELENIUM_4_JARS,
  SELENIUM_3_JARS
]

describe.each(LISTS)('$name', ({ name, jars }) => {
  test('has a hash for every jar', () => {
    const malformed = jars.filter(
      (line) => !/^[\w.-]+:[\w.-]+(:jar:[\w.-]+)?:[\w.-]+ [0-9a-f]{64}$/.test(line)
    )
    expect(malformed).toEqual([])
  })

  test('has each jar and each file name once, in order', () => {
    expect(jars).toEqual([...new Set(jars)].sort())
    const names = jars.map((line) => readJar(line).fileName)
    expect(new Set(names).size).toBe(names.length)
  })

  test('is named after the version of its main artifact', () => {
    const version = name.slice(name.lastIndexOf('-') + 1)
    expect(jars.some((line) => readJar(line).coordinates.endsWith(`:${version}`))).toBe(true)
  })
})

describe('a line of a list', () => {
  test.each([
    { line: 'a.b:c:1.0 00', fileName: 'c-1.0.jar', coordinates: 'a.b:c:1.0', repositoryFolder: 'a/b/c/1.0' },
    {
      line: 'a.b:c:jar:linux:1.0 00',
      fileName: 'c-1.0-linux.jar',
      coordinates: 'a.b:c:jar:linux:1.0',
      repositoryFolder: 'a/b/c/1.0'
    }
  ])('$line is $fileName', ({ line, ...jar }) => {
    expect(readJar(line)).toEqual({ ...jar, sha256: '00' })
  })

  test('changes the fingerprint', () => {
    const keys = [['a', 'b'], ['a', 'c'], ['ab'], []].map(fingerprint)
    expect(new Set(keys).size).toBe(keys.length)
  })
})
