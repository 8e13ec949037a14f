/**
 * The user that browsers run as if the service runs as root, which Chromium refuses to: one without a name, who owns
 * nothing but the folders that browsers are given. Undefined where they run as the service does.
 */
export const browserUser = process.getuid?.() === 0 ? { uid: 64_000, gid: 64_000 } : undefined
