/** Parts of names whose values are nobody else's business. */
const SECRET_NAME =
  /token|secret|passw|passphrase|pwd|api[-_]?key|access[-_]?key|auth|credential|session|csrf|xsrf|signature|jwt|cookie|private|otp|cvc|cvv|card|iban|ssn/i
const SECRET_WORD = /^(?:key|sid|sig|pin|pass|code|nonce|state|assertion)$/i
/** A JSON Web Token or a credential of a well-known shape. Bounded, for a recording may contain megabytes of anything. */
const SECRET_VALUE =
  /eyJ[\w-]{8,400}\.[\w-]{8}|\b(?:Bearer|Basic)\s+\S{6,}|\b(?:gh[pousr]_|github_pat_|glpat-|xox[abprs]-|sk[-_]live|sk-|AKIA|AIza)[\w-]{10,}/
const LONG_WORD = /[A-Za-z0-9_+/=-]{32,}/g

export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name) || SECRET_WORD.test(name)
}

export function isSecretValue(value: string): boolean {
  if (SECRET_VALUE.test(value)) return true
  return (value.match(LONG_WORD) ?? []).some(looksRandom)
}

/** Words and slugs have no digits among capitals; uuids are ids, not secrets. */
function looksRandom(word: string): boolean {
  if (/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(word)) return false
  const isHex = /^[0-9a-f]+$/i.test(word) && /\d/.test(word) && /[a-f]/i.test(word)
  return isHex || (/\d/.test(word) && /[a-z]/.test(word) && /[A-Z]/.test(word))
}
