import { unescape as decoded } from 'node:querystring'

/** The full form of a mail server's address, such as `smtps://user:password@mail.example.com:465`. */
export const smtpUrl =
  /^(?<scheme>smtps?):\/\/(?:(?<user>[^\s:@/]+):(?<pass>[^\s@/]+)@)?(?<host>[A-Za-z\d._-]+|\[[A-Fa-f\d:.]+\])(?::(?<port>\d{1,5}))?\/?$/

/** Reads an address that `smtpUrl` matches, with a percent-encoded user and password. */
export function readSmtpUrl(url: string) {
  const { scheme, user, pass = '', host = '', port } = smtpUrl.exec(url)?.groups ?? {}
  const secure = scheme === 'smtps' || port === '465'
  return {
    host: host.replace(/[[\]]/g, ''),
    port: Number(port ?? (secure ? 465 : 587)),
    /** True for TLS from the first byte, instead of STARTTLS. */
    secure,
    auth: user === undefined ? undefined : { user: decoded(user), pass: decoded(pass) },
  }
}
