Import-Module Az.Storage

# Copies files.
function Copy-Things {
    param([string]$Path)
    Get-ChildItem $Path | Out-Null
}

class Job {
    [string]$Name

    [void] Run() {
        Write-Host $this.Name
    }
}
