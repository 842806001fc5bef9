import { describe, expect, test } from '@jest/globals'
import { fillFromEnvironment, variableFor } from '../../../src/gate/settings/environment-values.js'
import { markedValues } from '../../../src/gate/settings/secret-parameters.js'
import { LOCAL, problemsOf, readGiven } from '../../support/gate/settings-sources.js'

const PASSWORD = 'LOADGATE_PARAMETER_PASSWORD'
const ENV: Readonly<Record<string, string>> = { [PASSWORD]: 'correct, horse', LOADGATE_TOKEN: 'planted' }
const variable = (name: string): string | undefined => ENV[name]

describe('a parameter from the environment', () => {
  test('gets the value of its variable, as a secret', async () => {
    const given = { ...LOCAL, 'override-parameters': `-Jhost=a, -Jpw=env:${PASSWORD}` }
    const settings = await readGiven(given, { variable })
    expect(settings.overrideParameters).toBe('-Jhost=a, -Jpw=secret:correct, horse')
    expect(markedValues(settings)).toEqual(['correct, horse'])
    expect(settings.parameterVariables).toEqual([PASSWORD])
  })

  test('is read from the config file too, and in baseline-parameters', async () => {
    const configText = `override-parameters: -Jpw=env:${PASSWORD}`
    expect(
      (await readGiven({ ...LOCAL, config: 'gate.yml' }, { configText, variable })).overrideParameters
    ).toBe('-Jpw=secret:correct, horse')
    const sides = {
      ...{ baseline: 'side-by-side', 'baseline-parameters': `-Jport=1, -Jpw=env:${PASSWORD}` },
      ...{ thresholds: 'p95 <= baseline + 10%', duration: '60s' }
    }
    const { baseline } = await readGiven({ ...LOCAL, ...sides }, { variable })
    expect(baseline.source).toMatchObject({ parameters: '-Jport=1, -Jpw=secret:correct, horse' })
  })

  test('is an error without its variable, which says what to set', async () => {
    const given = { ...LOCAL, 'override-parameters': `-Jpassword=env:${PASSWORD}` }
    expect(await problemsOf(given, { variable: () => undefined })).toEqual([
      `override-parameters: -Jpassword gets its value from the environment variable ${PASSWORD}, which is not set; set it: in a terminal with \`export\`, in a workflow with \`env\` from a secret`
    ])
    expect(await problemsOf(given, { variable: () => '' })).toEqual([
      expect.stringContaining(', which is empty; ')
    ])
    expect(await problemsOf(given)).toHaveLength(1)
  })

  test.each(['LOADGATE_TOKEN', 'HOME', 'LOADGATE_PARAMETER_', `x${PASSWORD}`, 'loadgate_parameter_x'])(
    'never has the value of %s',
    (name) => {
      const { text, problems } = fillFromEnvironment(`-Jx=env:${name}`, () => 'planted')
      expect([text, problems]).toEqual(['-Jx=secret:', [expect.stringContaining('names no variable')]])
    }
  )

  test.each(['a -Jport=1', 'a, -n', ' a', 'a,'])(
    'cannot be "%s", which would be another parameter',
    (value) => {
      expect(fillFromEnvironment(`-Jx=env:${PASSWORD}`, () => value).problems).toEqual([
        expect.stringMatching(/^-Jx gets its value from .* cannot be passed/)
      ])
    }
  )

  test('what only looks like one stays as it is', () => {
    for (const text of [`-Jx=secret:env:${PASSWORD}`, '-Jx=environment', '-n env:A', ''])
      expect(fillFromEnvironment(text, variable)).toEqual({ text, problems: [], variables: [] })
  })
})

test('a parameter’s variable has its name, in capitals', () => {
  expect(variableFor('x-api.key')).toBe('LOADGATE_PARAMETER_X_API_KEY')
})
