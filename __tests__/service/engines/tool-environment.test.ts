import { describe, expect, test } from '@jest/globals'
import { execFileSync } from 'node:child_process'
import {
  mavenEnvironment,
  npmEnvironment,
  toolEnvironment
} from '../../../src/service/engines/tool-environment.js'

describe('the locale of tools', () => {
  test.each([
    [{}],
    [{ LANG: 'C' }],
    [{ LANG: 'de_DE@euro', LC_ALL: '' }],
    [{ LANG: 'en_US.UTF-8', LC_CTYPE: 'POSIX' }],
    [{ LANG: 'en_US.UTF-8', LC_CTYPE: 'C.UTF-8', LC_ALL: 'C' }]
  ])('%j becomes one with UTF-8', (env) => {
    expect(toolEnvironment(env, 'linux')).toEqual({ ...env, LC_ALL: 'C.UTF-8' })
    expect(toolEnvironment(env, 'darwin')).toEqual({ ...env, LC_ALL: 'en_US.UTF-8' })
  })

  test.each([
    [{ LANG: 'de_DE.UTF-8' }],
    [{ LANG: 'C', LC_CTYPE: 'C.utf8' }],
    [{ LANG: 'C', LC_CTYPE: 'C', LC_ALL: 'en_GB.utf-8' }],
    [{ LANG: 'de_DE.UTF-8', LC_ALL: '', LC_CTYPE: '', LC_NUMERIC: 'C' }]
  ])('%j has UTF-8 and stays', (env) => {
    expect(toolEnvironment(env, 'linux')).toEqual(env)
  })

  test('Maven and npm get it too', () => {
    const { LC_ALL } = toolEnvironment({ LC_ALL: 'C' })
    expect(LC_ALL).toMatch(/UTF-8$/)
    expect(mavenEnvironment({ LC_ALL: 'C' }).LC_ALL).toBe(LC_ALL)
    expect(npmEnvironment({ LC_ALL: 'C' }).LC_ALL).toBe(LC_ALL)
  })

  test('this machine knows the locale', () => {
    const env = { ...toolEnvironment({ PATH: process.env.PATH, LC_ALL: 'C' }) }
    expect(execFileSync('locale', ['charmap'], { env, encoding: 'utf8' }).trim()).toBe('UTF-8')
  })
})
