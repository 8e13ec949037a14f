/**
 * The user of browsers if the service runs as root, as whom Chromium refuses to run: a user without a name,
 * who owns only the folders of browsers. Undefined if browsers run as the service's user.
 */
export const browserUser = process.getuid?.() === 0 ? { uid: 64_000, gid: 64_000 } : undefined
