/** The contents of these appear nowhere: passwords, one-time codes, and the data of payment cards. */
export const secretFields = [
  'input[type=password i]',
  'input[autocomplete$="-password" i]',
  ':is(input, textarea, select)[autocomplete~="one-time-code" i]',
  ':is(input, textarea, select)[autocomplete*="cc-" i]',
].join(', ')
