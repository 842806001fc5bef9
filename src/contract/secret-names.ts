const PARTS = [
  /pass(?!eng|ing|ive|age|ed)|pw(?![a-z])|pwd|secret|token|credential|key(?!word|board|frame|note|stroke)/,
  /auth(?!or(?!i))|session|cookie|signature|csrf|xsrf|hmac|connection[-_. ]?string/,
  /(?:access|security|login|sms|unlock|backup|recovery|verification)[-_. ]?code/,
  // Whole words: `userPin` has the word `pin` in it, and `spinner` has not.
  /(?<![a-z])(?:pin|pincode|otp|otpcode|pat|sas|totp|mfa|jwt|bearer|salt|private|creds?|cvc|cvv|dsn)(?![a-z])/
]
/** What a password is called elsewhere; those that contain `pass` need not be here. */
export const FOREIGN_PASSWORD =
  'kennwort|mdp|clave|contrase[nñ]a|senha|[sş]ifre|parola?|wachtwoord|has[lł]o|heslo|l[oö]senord|salasana|jelsz[oó]'
const SECRET = new RegExp(
  [...PARTS.map(({ source }) => source), `(?<![a-z])(?:${FOREIGN_PASSWORD})(?![a-z])`].join('|'),
  'i'
)

/** What a browser sends is confidential under more names than those of parameters: personal data, and what is good for one request. */
const CONFIDENTIAL =
  /jwt|private|otp|cvc|cvv|card|iban|ssn|bearer|hash|ticket|answer|phone|msisdn|(?<![a-z])(?:tel|mobile|sid|sig|pan|tan|nonce|state|assertion)(?![a-z])/i
const CODE = /codes?(?![a-z])/i
const HARMLESS_CODE =
  /(?:zip|post|postal|country|region|language|lang|locale|currency|status|error)[-_ ]?codes?$/i

/** Whether the value of a parameter, variable, property or field of this name is secret: it is shown nowhere. */
export function isSecretName(name: string): boolean {
  return SECRET.test(splitWords(name))
}

/** Whether a value of this name must not be taken from a recording or an API's description into a plan, however plain it looks. */
export function isConfidentialName(name: string): boolean {
  const words = splitWords(name)
  return SECRET.test(words) || CONFIDENTIAL.test(words) || (CODE.test(words) && !HARMLESS_CODE.test(name))
}

function splitWords(name: string): string {
  return name.replace(/(?<=[\p{Ll}\d])(?=\p{Lu})/gu, '_')
}
