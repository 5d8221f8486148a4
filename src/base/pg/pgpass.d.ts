declare module 'pgpass' {
  type At = { readonly host: string; readonly port: number; readonly database: string; readonly user: string };
  /** Tells the password of the first line that fits; undefined: no file, one that others may read, or no such line. */
  export default function readPassword(at: At, tell: (password: string | undefined) => void): void;
}
