declare module 'pgpass' {
  type At = { readonly host: string; readonly port: number; readonly database: string; readonly user: string };
  /** Passes on the password of the first matching line. Undefined: no file, a file readable by others, or no such line. */
  export default function readPassword(at: At, tell: (password: string | undefined) => void): void;
}
