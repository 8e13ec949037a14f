import { group, optional, whole } from './variables.ts'

/** Which browser pages are opened in, and how many sessions may be open. */
export const browser = group({
  variables: {
    CHROMIUM_PATH: optional('the program of a Chromium or Chrome, as an absolute path', {
      check: value => value.startsWith('/'),
    }),
    // That of the X server, which only a browser with a window needs.
    DISPLAY: optional('the name of a display'),
    BROWSER_MAX_SESSIONS_PER_AGENT: whole(25, 1, 1000),
    BROWSER_MAX_SESSIONS: whole(50, 1, 1000),
  },
  read: environment => ({
    browser: {
      /** Undefined for the bundled one. */
      chromiumPath: environment.CHROMIUM_PATH,
      display: environment.DISPLAY,
      maxSessionsPerAgent: environment.BROWSER_MAX_SESSIONS_PER_AGENT,
      maxSessions: environment.BROWSER_MAX_SESSIONS,
    },
  }),
})
