/** For the head of a served page: ends the session of this browser. */
export const SIGN_OUT =
  '<form method="post" action="/logout" class="tools" aria-label="Session"><button type="submit">Sign out</button></form>\n'
