import { isIP } from 'node:net'
import { group, optional, webAddress, whole } from './variables.ts'

/** Settings for the browser that opens pages, and for the number of open sessions. */
export const browser = group({
  variables: {
    CHROMIUM_PATH: optional('the program of a Chromium or Chrome, as an absolute path', {
      check: value => value.startsWith('/'),
    }),
    // The limit of the X server, which only a browser with a window needs.
    DISPLAY: optional('the name of a display'),
    BROWSER_CDP_URL: optional(
      'the http, https, ws or wss address of a browser that answers the DevTools protocol',
      {
        check: value => /^(?:https?|wss?):$/.test(URL.parse(value)?.protocol ?? ''),
      },
    ),
    BROWSER_PROXY_HOST: optional('the name or IP address by which that browser reaches this machine', {
      check: value => isIP(value) !== 0 || /^[\w-]+(?:\.[\w-]+)*$/.test(value),
    }),
    REPLICA_URL: webAddress(),
    BROWSER_MAX_SESSIONS_PER_AGENT: whole(25, 1, 1000),
    BROWSER_MAX_SESSIONS: whole(50, 1, 1000),
  },
  problems: environment => [
    ...(environment.BROWSER_CDP_URL !== undefined && environment.CHROMIUM_PATH !== undefined
      ? ['BROWSER_CDP_URL and CHROMIUM_PATH: set one of them.']
      : []),
    ...(environment.BROWSER_CDP_URL !== undefined && environment.BROWSER_PROXY_HOST === undefined
      ? [
          'BROWSER_PROXY_HOST: required with BROWSER_CDP_URL, since pages reach the network only through a proxy here.',
        ]
      : []),
  ],
  read: environment => ({
    browser: {
      /** Defaults to the bundled one. */
      chromiumPath: environment.CHROMIUM_PATH,
      display: environment.DISPLAY,
      /** A remote browser, instead of a local one; with the host by which it reaches the proxy. */
      remote:
        environment.BROWSER_CDP_URL === undefined || environment.BROWSER_PROXY_HOST === undefined
          ? undefined
          : { url: environment.BROWSER_CDP_URL, proxyHost: environment.BROWSER_PROXY_HOST },
      /** The address at which other processes of the service reach this one. */
      replicaUrl: environment.REPLICA_URL?.replace(/\/+$/, ''),
      maxSessionsPerAgent: environment.BROWSER_MAX_SESSIONS_PER_AGENT,
      maxSessions: environment.BROWSER_MAX_SESSIONS,
    },
  }),
})
