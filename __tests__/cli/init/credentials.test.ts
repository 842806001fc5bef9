import { expect, test } from '@jest/globals'
import { credentialsOf } from '../../../src/cli/init/credentials.js'

test.each([
  ['value_', 'value_password', 'LOADGATE_PARAMETER_PASSWORD'],
  ['', 'password', 'LOADGATE_PARAMETER_PASSWORD'],
  // A plan for JMeter has no prefix: this is the name of a field.
  ['', 'value_password', 'LOADGATE_PARAMETER_VALUE_PASSWORD']
])('with the prefix "%s", %s is %s', (prefix, property, variable) => {
  expect(credentialsOf([property], prefix)).toEqual([{ property, variable }])
})
