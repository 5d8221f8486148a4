export { assinarCms, assinarXml } from './assinatura.js';
export { conferirAviso } from './aviso.js';
export { CertificadoRecusado, lerCertificado } from './certificado.js';
export * from './cliente.js';
export { tipoDoCorpo } from './corpo.js';
export { AindaEmAndamento, ErroDaChamada, Indeterminado, NaoEntregue, Recusado, SemResposta, } from './erros.js';
export { XmlRecusado } from './xml.js';
