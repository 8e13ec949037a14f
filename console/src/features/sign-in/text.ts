import { defineText } from '#console/i18n/text.ts'

export const en = {
  title: 'Sign in',
  signingIn: 'You are being signed in …',
  invited: 'You are invited to work with agents here.',
  accept: 'Accept the invitation',
  signedInAs: (email: string) => `You are signed in as ${email}.`,
  goOn: 'Continue',
  signOut: 'Sign out',
  signInAt: (provider: string) => `Sign in at ${provider}`,
  openLink:
    'Open your sign-in link in this browser. A link works once, for 15 minutes. The operator of this service makes one by this command:',
  orLink: 'Or open a sign-in link, which the operator of this service makes by this command:',
  askInviter: 'An invitation works once, for seven days. Ask the person who invited you for another one.',
  commandLine: 'npm run sign-in -- you@example.com',
  command: 'Command for a sign-in link',
}

export const text = defineText(en, { de: () => import('./de.ts') })
