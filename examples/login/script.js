import { check, sleep } from 'k6'
import http from 'k6/http'

const shop = `http://${__ENV.HOST || '127.0.0.1'}:${__ENV.PORT || 8080}`
const think = Number(__ENV.THINK || 50) / 1000

// The password of the demo shop, which everyone knows. One that is secret has no default: -Jpassword=env:LOADGATE_PARAMETER_PASSWORD
const user = __ENV.USER_NAME || 'ada'
const password = __ENV.PASSWORD || 'open-sesame'

/** Users of the demo shop who log in: by form, with a CSRF field and a session cookie, and by API, with a token. */
export default function () {
  // A CSRF field: taken from the form, and sent with it.
  const form = http.get(`${shop}/login`, { tags: { name: 'login form' } })
  const csrf = form.html('input[name="csrf"]').attr('value')
  sleep(think)

  // A login. Its redirect would be a request of its own in all figures.
  const entered = http.post(
    `${shop}/login`,
    { csrf, user, password },
    { tags: { name: 'login' }, redirects: 0 }
  )
  check(entered, { 'logged in': ({ status }) => status === 303 })
  sleep(think)

  // A session cookie: k6 keeps the cookies of each user, and forgets them after each iteration.
  const account = http.get(`${shop}/account`, { tags: { name: 'account' } })
  check(account, { 'the session is known': ({ body }) => body.includes(`Welcome back, ${user}`) })
  sleep(think)

  // A token: taken from one reply, and sent with the next requests.
  const json = { 'Content-Type': 'application/json' }
  const reply = http.post(`${shop}/api/login`, JSON.stringify({ user, password }), {
    headers: json,
    tags: { name: 'token' }
  })
  const token = reply.json('token')
  sleep(think)

  // Headers.
  const headers = { Accept: 'application/json', Authorization: `Bearer ${token}` }
  http.get(`${shop}/api/orders`, { headers, tags: { name: 'orders' } })
  sleep(think)
}
