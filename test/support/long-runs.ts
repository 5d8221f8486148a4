/** The long runs: `npm run test:longo`, `test:quedas` and `test:alta-disponibilidade`. */
const { NFSE_TEST_LONGO, NFSE_TEST_QUEDAS, NFSE_TEST_ALTA } = process.env;

export const IS_LONG_RUN = (NFSE_TEST_LONGO ?? NFSE_TEST_QUEDAS ?? NFSE_TEST_ALTA) !== undefined;
