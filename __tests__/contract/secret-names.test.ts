import { expect, test } from '@jest/globals'
import { isSecretName } from '../../src/contract/secret-names.js'

test.each([
  'github_pat',
  'gh_pat',
  'ghPat',
  'PAT',
  'sas',
  'storage.sas',
  'pincode',
  'pinCode',
  'otpcode',
  'otp_code'
])('%s is secret', (name) => {
  expect(isSecretName(name)).toBe(true)
})

test.each(['path', 'pattern', 'patch', 'base_path', 'compat', 'sass', 'kansas', 'spinner', 'zipcode'])(
  '%s is not',
  (name) => {
    expect(isSecretName(name)).toBe(false)
  }
)
