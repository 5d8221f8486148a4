import cliente.*;
import java.io.*;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.util.Base64;

/** Calls the operations of its input (name and document in Base64, one a line), with the port that wsimport made. */
public class Cliente {
  public static void main(String[] args) throws Exception {
    Nfes_Service service = new Nfes_Service(new URL(args[0]));
    Nfes port = service.getNfesPort();
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      String[] parts = line.split(" ");
      String document = new String(Base64.getDecoder().decode(parts[1]), StandardCharsets.UTF_8);
      String answer;
      switch (parts[0]) {
        case "RecepcionarLoteRps": answer = port.recepcionarLoteRps("", document); break;
        case "ConsultarSituacaoLoteRps": answer = port.consultarSituacaoLoteRps("", document); break;
        case "ConsultarNfsePorRps": answer = port.consultarNfsePorRps("", document); break;
        case "ConsultarLoteRps": answer = port.consultarLoteRps("", document); break;
        case "ConsultarNfse": answer = port.consultarNfse("", document); break;
        case "CancelarNfse": answer = port.cancelarNfse("", document); break;
        default: throw new IllegalArgumentException(parts[0]);
      }
      System.out.println(Base64.getEncoder().encodeToString(answer.getBytes(StandardCharsets.UTF_8)));
      System.out.flush();
    }
  }
}
