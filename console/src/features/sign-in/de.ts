import type { en } from './text.ts'

export default {
  title: 'Anmelden',
  signingIn: 'Sie werden angemeldet …',
  invited: 'Sie sind eingeladen, hier mit Agenten zu arbeiten.',
  accept: 'Einladung annehmen',
  signedInAs: email => `Sie sind angemeldet als ${email}.`,
  goOn: 'Weiter',
  signOut: 'Abmelden',
  signInAt: provider => `Bei ${provider} anmelden`,
  openLink:
    'Öffnen Sie Ihren Anmeldelink in diesem Browser. Ein Link gilt einmal, 15 Minuten lang. Wer diesen Dienst betreibt, macht einen mit diesem Befehl:',
  orLink: 'Oder öffnen Sie einen Anmeldelink. Wer diesen Dienst betreibt, macht einen mit diesem Befehl:',
  askInviter:
    'Eine Einladung gilt einmal, sieben Tage lang. Bitten Sie den, der Sie eingeladen hat, um eine neue.',
  commandLine: 'npm run sign-in -- sie@example.com',
  command: 'Befehl für einen Anmeldelink',
} satisfies typeof en
