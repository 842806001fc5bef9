import { describe, expect, test } from '@jest/globals'
import { parseOverrideParameters } from '../../../src/service/engines/engine.js'
import {
  placeVariables,
  planParameters,
  refuseVariable
} from '../../../src/service/engines/environment-file.js'

describe('what a plan is told about its place', () => {
  test('indices count from 0 and sequence numbers from 1', () => {
    const place = { region: 'eu-west-1', gridIndex: 1, nodeIndex: 2, ordinal: 5 }
    expect(placeVariables(place)).toEqual({
      FLOOD_LOAD_TEST: 'true',
      FLOOD_GRID_REGION: 'eu-west-1',
      FLOOD_GRID_INDEX: '1',
      FLOOD_GRID_SEQUENCE_ID: '2',
      FLOOD_GRID_SQEUENCE_ID: '2',
      FLOOD_NODE_INDEX: '2',
      FLOOD_GRID_NODE_SEQUENCE_ID: '6',
      FLOOD_SEQUENCE_ID: '1',
      FLOOD_PROJECT_ID: '1',
      FLOOD_ACCOUNT_ID: '1'
    })
  })
})

describe('the parameters of a plan', () => {
  const settings = (text: string): Parameters<typeof planParameters>[0] => ({
    threads: 3,
    rampupSec: null,
    durationSec: 60,
    properties: parseOverrideParameters(text).properties
  })

  test('the run’s settings that are set', () => {
    expect([...planParameters(settings(''))]).toEqual([
      ['threads', '3'],
      ['duration', '60']
    ])
  })

  test('-D and -J alike, and the last one wins', () => {
    const parameters = planParameters(settings('-Dhost=a -Jhost=b -Jthreads=9 -Durl=c'))
    expect(Object.fromEntries(parameters)).toEqual({ threads: '9', duration: '60', host: 'b', url: 'c' })
  })
})

describe('names that a plan cannot set', () => {
  test.each([
    ...['PATH', 'HOME', 'LD_PRELOAD', 'LD_LIBRARY_PATH', 'DYLD_INSERT_LIBRARIES', 'NODE_OPTIONS'],
    ...['JAVA_TOOL_OPTIONS', '_JAVA_OPTIONS', 'JDK_JAVA_OPTIONS', 'CLASSPATH', 'BASH_ENV', 'TMPDIR'],
    ...['npm_config_registry', 'PLAYWRIGHT_BROWSERS_PATH', 'MAVEN_OPTS'],
    ...['SELENIUM_REMOTE_URL', 'DEBUG', 'PW_LANG_NAME', 'PWTEST_UNDER_TEST', 'SSLKEYLOGFILE']
  ])('%s is the machine’s', (name) => {
    expect(refuseVariable(name)).toContain(
      `${name} cannot be set, because it decides how the tool itself runs`
    )
  })

  test.each(['FLOOD_NODE_INDEX', 'FLOOD_GRID_SQEUENCE_ID', 'WEBDRIVER_PORT', 'THREAD_ID', 'BROWSER_ID'])(
    '%s is the service’s',
    (name) => {
      expect(refuseVariable(name)).toContain(`${name} cannot be set, because every node gets its own`)
    }
  )

  test.each(['BASE_URL', 'NODE_ENV', 'FLOOD_USER', 'PATH_OF_DATA', 'path', 'env', 'ENV', 'USER', 'threads'])(
    '%s can be set',
    (name) => {
      expect(refuseVariable(name)).toBeUndefined()
    }
  )
})
