/**
 * Prints one sentence with a remedy if Node is too old for the service's TypeScript and SQLite. Loaded before
 * everything else, and written so that such a Node can read it.
 */
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)

if (major < 24 || (major === 24 && minor < 10)) {
  process.stderr.write(
    `agentstead needs Node 24.10 or newer, and this is ${process.versions.node}: run "npm ci", which brings it (or install it yourself), and start again with "npm start".\n`,
  )
  process.exit(1)
}
